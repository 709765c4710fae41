/** Words that say nothing about what is looked for, by language. A table; it may be long. */
const lists = {
  english: `a about above after again all also am an and any are as at be because been before being below between both but by can
    could did do does doing don down during each few for from further had has have having he her here hers him his how i if in into
    is it its itself just me more most my myself no nor not now of off on once only or other our ours out over own same she should
    so some such than that the their theirs them then there these they this those through to too under until up us very was we were
    what when where which while who whom whose why will with would you your yours
    ain aren couldn didn doesn hadn hasn haven isn let ll may might must needn re shan shouldn ve wasn weren won wouldn
    anybody anyone anything everybody everyone everything nobody nothing somebody someone something
    ago ever maybe much please recently today tomorrow tonight yesterday
    stuff thing things kind sort lot bit help find show get got tell give know want need look make say said ask remember remind
    across along already also although always among another around certain different else etc even ever every hence however instead like many
    never often one per possible quite rather several since still though thus unless upon various via whether whole within without yet
    came come comes example gave gets give given gives gives goes going gone happen happened happens keep keeps long later look looked
    looking looks made makes mean means once take taken takes tells use used uses using wanted wants way ways`,
  spanish: `al algo algunas algunos ante antes así aún bien cada como cómo con contra cual cuál cuando cuándo de del desde donde dónde
    durante el él ella ellas ellos en entre era eran es esa esas ese eso esos está están estaba estar este esta estas esto estos fue
    fueron ha había hace han hasta hay la las le les lo los más me mi mis mucho muy nada ni no nos nosotros o os otra otras otro otros
    para pero poco por porque qué que quien quién quiénes se sea ser si sí sin sobre son su sus también tan tanto te tiene tienen todo
    todos tu tú tus un una unas uno unos usted ustedes y ya yo ayer hoy mañana favor ayuda busca buscar encuentra muestra dame dime
    cosa cosas`,
  portuguese: `ao aos aquela aquelas aquele aqueles aquilo às até com como da das de dela dele deles depois do dos e é ela elas ele eles em
    entre era eram essa essas esse esses esta está estão estava este estes eu foi foram há isso isto já lhe lhes mais mas me mesmo meu
    meus minha minhas muito na não nas nem no nos nós nossa nosso num numa o os ou para pela pelas pelo pelos por porque qual quais
    quando que quê quem onde são se seja sem ser será seu seus só sua suas também te tem têm tinha toda todas todo todos tu tua um uma
    umas uns você vocês ontem hoje amanhã favor ajuda encontre mostre mostrar diga coisa coisas`,
  arabic: `في من على إلى الى عن مع هذا هذه ذلك تلك هؤلاء أولئك الذي التي الذين اللذين هو هي هم هن أنا انا أنت انت نحن كان كانت يكون تكون
    كل بعض أي اي ما ماذا متى أين اين كيف لماذا هل لم لن لا إن ان أن قد ثم أو او و ف ب ل ك حتى بعد قبل عند عندما بين تحت فوق أيضا ايضا
    ليس ليست لكن بل إذا اذا لو كما منذ خلال أمس امس اليوم غدا شيء أشياء فضلك ساعدني ابحث أظهر أرني أخبرني`,
  korean: `그 그리고 그러나 그런데 그래서 또는 및 이 저 그것 이것 저것 여기 거기 저기 나 너 우리 저희 당신 그녀 그들 무엇 뭐 누구 언제 어디
    어떻게 왜 어느 어떤 무슨 것 수 등 더 잘 또 좀 매우 아주 정말 너무 있다 있는 있어 있나 없다 없는 하다 하는 했다 했어 한다 된다 되는
    이다 입니다 인가요 있나요 해줘 주세요 보여줘 찾아줘 알려줘 어제 오늘 내일 은 는 가 을 를 의 에 로 와 과 도 만`,
  japanese: `これ それ あれ この その あの ここ そこ あそこ こちら そちら どこ どれ どの どう なぜ なに いつ だれ は が を に へ と で も の や か
    から まで より など です ます でした ました ません する した して している される です か だ である ある いる ない なる ください
    こと もの ため よう そして しかし また ので のに けど って という とは には では について 何 誰 私 僕 昨日 今日 明日
    教えて 見せて 探して`,
  chinese: `的 了 是 在 我 你 您 他 她 它 们 我们 你们 他们 她们 这 那 这个 那个 这些 那些 这里 那里 哪 哪里 哪个 什么 怎么 怎样 如何 为什
    什么样 么样 么 为 吗 呢 吧 啊 和 与 及 或 或者 但 但是 而 而且 因为 所以 如果 就 都 也 还 又 很 非常 不 没 没有 有 要 会 能 可以
    到 从 对 于 关于 把 被 让 给 上 下 里 个 一 一个 一些 请 帮 帮我 找 查找 显示 告诉 昨天 今天 明天 東西 东西 這 這個 那個 們 為 嗎 麼 什麼 怎麼`,
};

/** Words of languages that share many with those above (`war`, `die`, `man`): they count only in questions of that language. */
const ownLists = {
  german: `aber alle allem allen aller alles als also am an ander andere anderen anderer anderes auch auf aus bei beim bin bis bist da dabei damit danach dann
    daran darauf daraus darf das dass dazu dein deine dem den denn der des deshalb die dies diese diesem diesen dieser dieses doch dort du durch ein eine einem
    einen einer eines er es etwas euch für gegen gibt habe haben hat hatte hier ich ihm ihn ihnen ihr ihre im in ins ist ja je jede jedem jeden jeder jedes jedoch
    kann kannst kein keine keinen können könnte lässt man mehr mein meine meinem meinen meiner mich mir mit muss müssen nach neben nicht nichts noch nun nur ob
    oder ohne sehr sein seine sich sie sind so soll sollen sollte sondern sonst über um und uns unser unter vom von vor war warum was weil welche welchem welchen
    welcher welches wenn wer werden wie wieder will wir wird wo wohin wurde würde zu zum zur zwischen bekomme bekommen mache machen macht bitte zeige sage gestern heute morgen`,
  french: `à au aucun aucune aussi autre autres aux avant avec avoir car ce ceci cela celle celles celui ces cet cette ceux chaque chez ci comme comment d dans de
    depuis des donc dont du elle elles en entre est et étaient était être eu faire fait faut il ils j je jusque l la le les leur leurs lorsque lui m ma mais me
    même mes moi moins mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut peuvent plus plusieurs pour pourquoi puis qu quand que quel quelle
    quelles quels qui quoi s sa sans se selon sera ses si son sont sous sur ta te tes toi ton tous tout toute toutes très trop tu un une vers vos votre vous y
    puis-je possible existe hier aujourd demain merci montre dis`,
  italian: `a ad agli ai al alla alle allo anche ancora avere c che chi ci come con contro cosa cui da dagli dai dal dalla dalle dallo degli dei del della delle dello di
    dopo dove due e è ed era erano essere fa fare gli ha hanno ho i il in io l la le lei lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nella nelle nello
    no noi non nostra nostro o ogni per perché più poi posso può quale quali quando quella quelle quelli quello questa queste questi questo qui quindi se sei senza
    si sia sono sta stato su sua sue sugli sui sul sulla sulle suo tra tu tutti tutto un una uno vi voi ieri oggi domani`,
  dutch: `aan al alle als altijd ander bij daar dan dat de der deze die dit doen door dus een en er ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun
    iemand iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen
    tot u uit uw van veel voor waar waarom wanneer want waren was wat welke werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder zou gisteren vandaag morgen`,
  russian: `а без более больше будет будто бы был была были было быть в вам вас ведь во вот все всё всего всех вы где да даже для до его ее её если есть еще ещё же за
    здесь и из или им их к как какая какой какие когда кто ли либо мне может можно мы на над надо наш не него нее ней нет ни них но ну о об однако он она они оно от
    очень по под после потом потому почему при про раз с сам себя сейчас со так также такой там тебя тем то тогда того тоже только том тот ты у уже хотя чего чем
    через что чтобы чуть эта эти это этого этой этом этот эту я вчера сегодня завтра`,
};

export type StopWordLanguage = keyof typeof lists | keyof typeof ownLists;

const wordsOf = (list: string) => new Set(list.split(/\s+/).map((word) => word.normalize("NFC")));
const byLanguage = new Map(
  Object.entries({ ...lists, ...ownLists }).map(([language, list]) => [language as StopWordLanguage, wordsOf(list)] as const),
);
const stopWords = new Set(Object.keys(lists).flatMap((language) => [...(byLanguage.get(language as StopWordLanguage) ?? [])]));

/** `word` in lower case. @param languages of the question, whose own words then count as well */
export function isStopWord(word: string, languages: readonly StopWordLanguage[] = []): boolean {
  return stopWords.has(word) || languages.some((language) => byLanguage.get(language)?.has(word));
}

/**
 * The languages most of whose stop words are in a question; English alone when it is among them. One word decides nothing, unless there are letters that English
 * has not: `man` may be German. Empty when none is found.
 * @param words in lower case
 */
export function languagesOf(words: readonly string[]): StopWordLanguage[] {
  const counted = [...byLanguage].map(([language, list]) => ({ language, found: words.filter((word) => list.has(word)).length }));
  const most = Math.max(...counted.map(({ found }) => found));
  const best = counted.filter(({ found }) => found === most).map(({ language }) => language);
  if (most === 0) return [];
  if (best.includes("english")) return ["english"];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the ASCII range as a whole
  return most > 1 || words.some((word) => /[^\x00-\x7f]/.test(word)) ? best : [];
}

/** Particles a Korean noun may end in, longest first. */
export const koreanParticles = [
  ..."에게서 으로부터 이라는 에서는 에서도 에게는 까지는 부터는 으로는 에서 에게 으로 까지 부터 처럼 보다 라는 이나 이란 하고 한테 께서".split(
    " ",
  ),
  ..."은는이가을를의에로와과도만나",
].sort((a, b) => b.length - a.length);
