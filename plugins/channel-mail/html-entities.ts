/** Names of characters that mails use; others stay as they are written. */
const names: Readonly<Record<string, string>> = Object.fromEntries(
  (
    "amp=& lt=< gt=> quot=\" apos=' nbsp=\u00a0 copy=© reg=® trade=™ hellip=… mdash=— ndash=– lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ " +
    "laquo=« raquo=» lsaquo=‹ rsaquo=› bull=• middot=· euro=€ pound=£ yen=¥ cent=¢ sect=§ para=¶ deg=° plusmn=± times=× divide=÷ frac12=½ frac14=¼ " +
    "larr=← rarr=→ uarr=↑ darr=↓ auml=ä ouml=ö uuml=ü Auml=Ä Ouml=Ö Uuml=Ü szlig=ß agrave=à aacute=á acirc=â atilde=ã aring=å aelig=æ ccedil=ç " +
    "egrave=è eacute=é ecirc=ê euml=ë igrave=ì iacute=í icirc=î iuml=ï ntilde=ñ ograve=ò oacute=ó ocirc=ô otilde=õ oslash=ø ugrave=ù uacute=ú " +
    "ucirc=û yacute=ý Eacute=É Egrave=È Agrave=À Ccedil=Ç Ntilde=Ñ Oslash=Ø AElig=Æ Aring=Å shy=\u00ad zwnj=\u200c zwj=\u200d ensp=\u2002 emsp=\u2003 thinsp=\u2009"
  )
    .split(" ")
    .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
);

/** Replaces entities of HTML by the characters they stand for. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(/&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-zA-Z][a-zA-Z0-9]{1,9}));?/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return names[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code === 0 || code > 0x10_ffff || (code >= 0xd800 && code < 0xe000) ? "\ufffd" : String.fromCodePoint(code);
  });
}
