# bash completion of svc. Written by `npm run docs` from the tables of commands. Reads no config and runs nothing.
_svc_known() { case "$1" in 'agent'|'agents'|'agents add'|'agents delete'|'agents list'|'approvals'|'approvals allow'|'approvals deny'|'approvals list'|'audit'|'audit list'|'audit verify'|'backup'|'backup create'|'backup restore'|'backup verify'|'channels'|'channels add'|'channels list'|'channels login'|'channels logout'|'channels logs'|'channels queue'|'channels queue drop'|'channels queue list'|'channels queue retry'|'channels remove'|'channels send'|'channels start'|'channels status'|'channels stop'|'chat'|'completion'|'config'|'config file'|'config get'|'config patch'|'config schema'|'config set'|'config types'|'config unset'|'config validate'|'cron'|'cron add'|'cron disable'|'cron edit'|'cron enable'|'cron list'|'cron rm'|'cron run'|'cron runs'|'cron status'|'dashboard'|'devices'|'devices approve'|'devices list'|'devices reject'|'devices revoke'|'devices rotate'|'doctor'|'gateway'|'gateway auth-token'|'gateway call'|'gateway health'|'gateway hints'|'gateway install'|'gateway probe'|'gateway restart'|'gateway run'|'gateway start'|'gateway status'|'gateway stop'|'gateway uninstall'|'health'|'hooks'|'hooks drop'|'hooks list'|'hooks retry'|'hooks show'|'hooks test'|'hooks token'|'import'|'logs'|'mcp'|'mcp login'|'mcp logout'|'mcp revoke'|'mcp status'|'memory'|'memory dream'|'memory dream run'|'memory dream status'|'memory index'|'memory promote'|'memory promote-explain'|'memory provider'|'memory provider set'|'memory rem-backfill'|'memory rem-harness'|'memory reset'|'memory search'|'memory status'|'models'|'models list'|'models runtime'|'models runtime install'|'models runtime status'|'models set'|'models status'|'models test'|'pairing'|'pairing approve'|'pairing list'|'pairing reject'|'pairing revoke'|'plugins'|'plugins add-packages'|'plugins build'|'plugins create'|'plugins dev'|'plugins disable'|'plugins doctor'|'plugins enable'|'plugins info'|'plugins install'|'plugins list'|'plugins reload'|'plugins uninstall'|'plugins validate'|'runs'|'runs replay'|'sdk'|'sdk link'|'secrets'|'secrets audit'|'secrets reload'|'sessions'|'sessions cleanup'|'sessions delete'|'sessions explain'|'sessions export'|'sessions fork'|'sessions list'|'sessions repair'|'sessions reset'|'sessions show'|'setup'|'status'|'system'|'system event'|'system heartbeat'|'system heartbeat disable'|'system heartbeat enable'|'system heartbeat last'|'system presence'|'usage') return 0 ;; esac; return 1; }
_svc_next() {
  case "$1" in
    '') echo 'agent agents approvals audit backup channels chat completion config cron dashboard devices doctor gateway health hooks import logs mcp memory models pairing plugins runs sdk secrets sessions setup status system usage' ;;
    'agents') echo 'add delete list' ;;
    'approvals') echo 'allow deny list' ;;
    'audit') echo 'list verify' ;;
    'backup') echo 'create restore verify' ;;
    'channels') echo 'add list login logout logs queue remove send start status stop' ;;
    'channels queue') echo 'drop list retry' ;;
    'completion') echo 'bash zsh fish' ;;
    'config') echo 'file get patch schema set types unset validate' ;;
    'cron') echo 'add disable edit enable list rm run runs status' ;;
    'devices') echo 'approve list reject revoke rotate' ;;
    'gateway') echo 'auth-token call health hints install probe restart run start status stop uninstall' ;;
    'hooks') echo 'drop list retry show test token' ;;
    'mcp') echo 'login logout revoke status' ;;
    'memory') echo 'dream index promote promote-explain provider rem-backfill rem-harness reset search status' ;;
    'memory dream') echo 'run status' ;;
    'memory provider') echo 'set' ;;
    'models') echo 'list runtime set status test' ;;
    'models runtime') echo 'install status' ;;
    'pairing') echo 'approve list reject revoke' ;;
    'plugins') echo 'add-packages build create dev disable doctor enable info install list reload uninstall validate' ;;
    'runs') echo 'replay' ;;
    'sdk') echo 'link' ;;
    'secrets') echo 'audit reload' ;;
    'sessions') echo 'cleanup delete explain export fork list repair reset show' ;;
    'system') echo 'event heartbeat presence' ;;
    'system heartbeat') echo 'disable enable last' ;;
  esac
}
_svc_flags() {
  case "$1" in
    'agent') echo '--message -m --agent --session-key --thinking --model --timeout --deliver --channel --to --json --url --port --token --password' ;;
    'agents add') echo '--workspace --adopt --model --emoji --avatar --json --url --port --token --password --timeout' ;;
    'agents delete') echo '--keep-files --json --url --port --token --password --timeout' ;;
    'agents list') echo '--json --url --port --token --password --timeout' ;;
    'approvals') echo '--watch --json --url --port --token --password --timeout' ;;
    'approvals allow') echo '--always --json --url --port --token --password --timeout' ;;
    'approvals deny') echo '--json --url --port --token --password --timeout' ;;
    'approvals list') echo '--watch --json --url --port --token --password --timeout' ;;
    'audit list') echo '--limit --before --action --actor --json --url --port --token --password --timeout' ;;
    'audit verify') echo '--known --json --url --port --token --password --timeout' ;;
    'backup create') echo '--with-secrets --json' ;;
    'backup restore') echo '--replace --json' ;;
    'backup verify') echo '--json' ;;
    'channels add') echo '--json' ;;
    'channels list') echo '--json --url --port --token --password --timeout' ;;
    'channels login') echo '--account --limit --json --url --port --token --password --timeout' ;;
    'channels logout') echo '--account --json --url --port --token --password --timeout' ;;
    'channels logs') echo '--account --follow --limit --max-bytes --level --json --plain --local-time --utc --interval --url --port --token --password --timeout' ;;
    'channels queue drop') echo '--json --url --port --token --password --timeout' ;;
    'channels queue list') echo '--all --limit --json --url --port --token --password --timeout' ;;
    'channels queue retry') echo '--json --url --port --token --password --timeout' ;;
    'channels remove') echo '--account --json --url --port --token --password --timeout' ;;
    'channels send') echo '--channel --account --thread --key --json --url --port --token --password --timeout' ;;
    'channels start') echo '--account --json --url --port --token --password --timeout' ;;
    'channels status') echo '--probe --json --url --port --token --password --timeout' ;;
    'channels stop') echo '--account --json --url --port --token --password --timeout' ;;
    'chat') echo '--agent --session-key --model --url --port --token --password --timeout' ;;
    'completion') echo '' ;;
    'config file') echo '--json' ;;
    'config get') echo '--effective --json --url --port --token --password --timeout' ;;
    'config patch') echo '--dry-run --json --file --stdin --replace-path --url --port --token --password --timeout' ;;
    'config schema') echo '--json --url --port --token --password --timeout' ;;
    'config set') echo '--dry-run --json --merge --replace --ref-source --ref-provider --ref-id --expect --url --port --token --password --timeout' ;;
    'config types') echo '--json' ;;
    'config unset') echo '--dry-run --json --replace --url --port --token --password --timeout' ;;
    'config validate') echo '--json' ;;
    'cron add') echo '--name --at --in --every --cron --tz --stagger --message --event --wake --agent --model --thinking --max-time --announce --channel --to --best-effort --once --disabled --json --url --port --token --password --timeout' ;;
    'cron disable') echo '--json --url --port --token --password --timeout' ;;
    'cron edit') echo '--name --at --in --every --cron --tz --stagger --message --event --wake --agent --model --thinking --max-time --announce --channel --to --best-effort --once --quiet --json --url --port --token --password --timeout' ;;
    'cron enable') echo '--json --url --port --token --password --timeout' ;;
    'cron list') echo '--all --agent --json --url --port --token --password --timeout' ;;
    'cron rm') echo '--json --url --port --token --password --timeout' ;;
    'cron run') echo '--due --json --url --port --token --password --timeout' ;;
    'cron runs') echo '--limit --offset --json --url --port --token --password --timeout' ;;
    'cron status') echo '--json --url --port --token --password --timeout' ;;
    'dashboard') echo '--no-open --secret --json --url --port --token --password --timeout' ;;
    'devices approve') echo '--json --url --port --token --password --timeout' ;;
    'devices list') echo '--json --url --port --token --password --timeout' ;;
    'devices reject') echo '--json --url --port --token --password --timeout' ;;
    'devices revoke') echo '--role --forget --json --url --port --token --password --timeout' ;;
    'devices rotate') echo '--role --scopes --json --url --port --token --password --timeout' ;;
    'doctor') echo '--fix --json --severity-min --only --skip --yes --restore-last-good --url --port --token --password --timeout' ;;
    'gateway') echo '--port --bind --auth --token --password --password-file --verbose --force --allow-unconfigured --ws-log --https --reset' ;;
    'gateway auth-token') echo '--show --rotate --json' ;;
    'gateway call') echo '--params --expect-final --json --url --port --token --password --timeout' ;;
    'gateway health') echo '--json --verbose --url --port --token --password --timeout' ;;
    'gateway hints') echo '--json --url --port --token --password --timeout' ;;
    'gateway install') echo '--force --port --node --system --dry-run --json' ;;
    'gateway probe') echo '--json --url --port --token --password --timeout' ;;
    'gateway restart') echo '--reason --wait --force --no-wait --json --url --port --token --password --timeout' ;;
    'gateway run') echo '--port --bind --auth --token --password --password-file --verbose --force --allow-unconfigured --ws-log --https --reset' ;;
    'gateway start') echo '--json' ;;
    'gateway status') echo '--require-rpc --no-probe --deep --json --url --port --token --password --timeout' ;;
    'gateway stop') echo '--yes --json' ;;
    'gateway uninstall') echo '--json' ;;
    'health') echo '--json --verbose --url --port --token --password --timeout' ;;
    'hooks drop') echo '--json --url --port --token --password --timeout' ;;
    'hooks list') echo '--deliveries --state --limit --json --url --port --token --password --timeout' ;;
    'hooks retry') echo '--json --url --port --token --password --timeout' ;;
    'hooks show') echo '--payload --json --url --port --token --password --timeout' ;;
    'hooks test') echo '--payload --header --json --url --port --token --password --timeout' ;;
    'hooks token') echo '--show --rotate --json --url --port --token --password --timeout' ;;
    'import') echo '--dry-run --agent --json' ;;
    'logs') echo '--follow --limit --max-bytes --level --json --plain --local-time --utc --interval --subsystem --url --port --token --password --timeout' ;;
    'mcp') echo '--url --port --token --password --timeout' ;;
    'mcp login') echo '--json --port --url --token --password --timeout' ;;
    'mcp logout') echo '--json --url --port --token --password --timeout' ;;
    'mcp revoke') echo '--json --url --port --token --password --timeout' ;;
    'mcp status') echo '--json --url --port --token --password --timeout' ;;
    'memory dream run') echo '--agent --json --url --port --token --password --timeout' ;;
    'memory dream status') echo '--agent --json --url --port --token --password --timeout' ;;
    'memory index') echo '--force --agent --json --url --port --token --password --timeout' ;;
    'memory promote') echo '--apply --limit --min-score --min-recall-count --min-unique-queries --include-promoted --agent --json --url --port --token --password --timeout' ;;
    'memory promote-explain') echo '--agent --json --url --port --token --password --timeout' ;;
    'memory provider set') echo '--model --agent --json --url --port --token --password --timeout' ;;
    'memory rem-backfill') echo '--path --stage-short-term --rollback --rollback-short-term --agent --json --url --port --token --password --timeout' ;;
    'memory rem-harness') echo '--path --grounded --agent --json --url --port --token --password --timeout' ;;
    'memory reset') echo '--agent --json --url --port --token --password --timeout' ;;
    'memory search') echo '--query --max-results --min-score --agent --json --url --port --token --password --timeout' ;;
    'memory status') echo '--agent --deep --index --fix --json --url --port --token --password --timeout' ;;
    'models list') echo '--provider --agent --all --json --url --port --token --password --timeout' ;;
    'models runtime install') echo '--json' ;;
    'models runtime status') echo '--json' ;;
    'models set') echo '--agent --fallback --no-fallback --json --url --port --token --password --timeout' ;;
    'models status') echo '--probe --json --url --port --token --password --timeout' ;;
    'models test') echo '--agent --timeout --json --url --port --token --password' ;;
    'pairing approve') echo '--account --notify --json --url --port --token --password --timeout' ;;
    'pairing list') echo '--json --url --port --token --password --timeout' ;;
    'pairing reject') echo '--account --json --url --port --token --password --timeout' ;;
    'pairing revoke') echo '--account --json --url --port --token --password --timeout' ;;
    'plugins add-packages') echo '--json' ;;
    'plugins build') echo '--check --json' ;;
    'plugins create') echo '--kind --dir --json' ;;
    'plugins dev') echo '--json --url --port --token --password --timeout' ;;
    'plugins disable') echo '--json --url --port --token --password --timeout' ;;
    'plugins doctor') echo '--severity-min --json --url --port --token --password --timeout' ;;
    'plugins enable') echo '--json --url --port --token --password --timeout' ;;
    'plugins info') echo '--json --url --port --token --password --timeout' ;;
    'plugins install') echo '--grant --yes -y --replace-bundled --confirm --json --url --port --token --password --timeout' ;;
    'plugins list') echo '--json --url --port --token --password --timeout' ;;
    'plugins reload') echo '--json --url --port --token --password --timeout' ;;
    'plugins uninstall') echo '--keep-config --json --url --port --token --password --timeout' ;;
    'plugins validate') echo '--json' ;;
    'runs replay') echo '--model --timeout --json --url --port --token --password' ;;
    'sdk link') echo '--json' ;;
    'secrets audit') echo '--json --check --allow-exec' ;;
    'secrets reload') echo '--json --url --port --token --password --timeout' ;;
    'sessions cleanup') echo '--dry-run --enforce --json --url --port --token --password --timeout' ;;
    'sessions delete') echo '--keep-transcript --json --url --port --token --password --timeout' ;;
    'sessions explain') echo '--session --newest --turn --prompt --json --url --port --token --password --timeout' ;;
    'sessions export') echo '--url --port --token --password --timeout' ;;
    'sessions fork') echo '--before --label --json --url --port --token --password --timeout' ;;
    'sessions list') echo '--agent --search --limit --json --url --port --token --password --timeout' ;;
    'sessions repair') echo '--json' ;;
    'sessions reset') echo '--json --url --port --token --password --timeout' ;;
    'sessions show') echo '--limit --json --url --port --token --password --timeout' ;;
    'setup') echo '--non-interactive --if-missing --workspace --bind --port --json' ;;
    'status') echo '--all --deep --json --url --port --token --password --timeout' ;;
    'system event') echo '--text --mode --agent --session-key --json --url --port --token --password --timeout' ;;
    'system heartbeat disable') echo '--json --url --port --token --password --timeout' ;;
    'system heartbeat enable') echo '--json --url --port --token --password --timeout' ;;
    'system heartbeat last') echo '--json --url --port --token --password --timeout' ;;
    'system presence') echo '--json --url --port --token --password --timeout' ;;
    'usage') echo '--days --by --agent --json --url --port --token --password --timeout' ;;
  esac
  echo '--profile --dev --log-level --no-color --help -h --version -V'
}
_svc_takes_value() {
  case "$1" in
    'agent --message'|'agent -m'|'agent --agent'|'agent --session-key'|'agent --thinking'|'agent --model'|'agent --timeout'|'agent --channel'|'agent --to'|'agent --url'|'agent --port'|'agent --token'|'agent --password'|'agents add --workspace'|'agents add --model'|'agents add --emoji'|'agents add --avatar'|'agents add --url'|'agents add --port'|'agents add --token'|'agents add --password'|'agents add --timeout'|'agents delete --url'|'agents delete --port'|'agents delete --token'|'agents delete --password'|'agents delete --timeout'|'agents list --url'|'agents list --port'|'agents list --token'|'agents list --password'|'agents list --timeout'|'approvals --url'|'approvals --port'|'approvals --token'|'approvals --password'|'approvals --timeout'|'approvals allow --url'|'approvals allow --port'|'approvals allow --token'|'approvals allow --password'|'approvals allow --timeout'|'approvals deny --url'|'approvals deny --port'|'approvals deny --token'|'approvals deny --password'|'approvals deny --timeout'|'approvals list --url'|'approvals list --port'|'approvals list --token'|'approvals list --password'|'approvals list --timeout'|'audit list --limit'|'audit list --before'|'audit list --action'|'audit list --actor'|'audit list --url'|'audit list --port'|'audit list --token'|'audit list --password'|'audit list --timeout'|'audit verify --known'|'audit verify --url'|'audit verify --port'|'audit verify --token'|'audit verify --password'|'audit verify --timeout'|'channels list --url'|'channels list --port'|'channels list --token'|'channels list --password'|'channels list --timeout'|'channels login --account'|'channels login --limit'|'channels login --url'|'channels login --port'|'channels login --token'|'channels login --password'|'channels login --timeout'|'channels logout --account'|'channels logout --url'|'channels logout --port'|'channels logout --token'|'channels logout --password'|'channels logout --timeout'|'channels logs --account'|'channels logs --limit'|'channels logs --max-bytes'|'channels logs --level'|'channels logs --interval'|'channels logs --url'|'channels logs --port'|'channels logs --token'|'channels logs --password'|'channels logs --timeout'|'channels queue drop --url'|'channels queue drop --port'|'channels queue drop --token'|'channels queue drop --password'|'channels queue drop --timeout'|'channels queue list --limit'|'channels queue list --url'|'channels queue list --port'|'channels queue list --token'|'channels queue list --password'|'channels queue list --timeout'|'channels queue retry --url'|'channels queue retry --port'|'channels queue retry --token'|'channels queue retry --password'|'channels queue retry --timeout'|'channels remove --account'|'channels remove --url'|'channels remove --port'|'channels remove --token'|'channels remove --password'|'channels remove --timeout'|'channels send --channel'|'channels send --account'|'channels send --thread'|'channels send --key'|'channels send --url'|'channels send --port'|'channels send --token'|'channels send --password'|'channels send --timeout'|'channels start --account'|'channels start --url'|'channels start --port'|'channels start --token'|'channels start --password'|'channels start --timeout'|'channels status --url'|'channels status --port'|'channels status --token'|'channels status --password'|'channels status --timeout'|'channels stop --account'|'channels stop --url'|'channels stop --port'|'channels stop --token'|'channels stop --password'|'channels stop --timeout'|'chat --agent'|'chat --session-key'|'chat --model'|'chat --url'|'chat --port'|'chat --token'|'chat --password'|'chat --timeout'|'config get --url'|'config get --port'|'config get --token'|'config get --password'|'config get --timeout'|'config patch --file'|'config patch --replace-path'|'config patch --url'|'config patch --port'|'config patch --token'|'config patch --password'|'config patch --timeout'|'config schema --url'|'config schema --port'|'config schema --token'|'config schema --password'|'config schema --timeout'|'config set --ref-source'|'config set --ref-provider'|'config set --ref-id'|'config set --expect'|'config set --url'|'config set --port'|'config set --token'|'config set --password'|'config set --timeout'|'config unset --url'|'config unset --port'|'config unset --token'|'config unset --password'|'config unset --timeout'|'cron add --name'|'cron add --at'|'cron add --in'|'cron add --every'|'cron add --cron'|'cron add --tz'|'cron add --stagger'|'cron add --message'|'cron add --event'|'cron add --wake'|'cron add --agent'|'cron add --model'|'cron add --thinking'|'cron add --max-time'|'cron add --channel'|'cron add --to'|'cron add --url'|'cron add --port'|'cron add --token'|'cron add --password'|'cron add --timeout'|'cron disable --url'|'cron disable --port'|'cron disable --token'|'cron disable --password'|'cron disable --timeout'|'cron edit --name'|'cron edit --at'|'cron edit --in'|'cron edit --every'|'cron edit --cron'|'cron edit --tz'|'cron edit --stagger'|'cron edit --message'|'cron edit --event'|'cron edit --wake'|'cron edit --agent'|'cron edit --model'|'cron edit --thinking'|'cron edit --max-time'|'cron edit --channel'|'cron edit --to'|'cron edit --url'|'cron edit --port'|'cron edit --token'|'cron edit --password'|'cron edit --timeout'|'cron enable --url'|'cron enable --port'|'cron enable --token'|'cron enable --password'|'cron enable --timeout'|'cron list --agent'|'cron list --url'|'cron list --port'|'cron list --token'|'cron list --password'|'cron list --timeout'|'cron rm --url'|'cron rm --port'|'cron rm --token'|'cron rm --password'|'cron rm --timeout'|'cron run --url'|'cron run --port'|'cron run --token'|'cron run --password'|'cron run --timeout'|'cron runs --limit'|'cron runs --offset'|'cron runs --url'|'cron runs --port'|'cron runs --token'|'cron runs --password'|'cron runs --timeout'|'cron status --url'|'cron status --port'|'cron status --token'|'cron status --password'|'cron status --timeout'|'dashboard --url'|'dashboard --port'|'dashboard --token'|'dashboard --password'|'dashboard --timeout'|'devices approve --url'|'devices approve --port'|'devices approve --token'|'devices approve --password'|'devices approve --timeout'|'devices list --url'|'devices list --port'|'devices list --token'|'devices list --password'|'devices list --timeout'|'devices reject --url'|'devices reject --port'|'devices reject --token'|'devices reject --password'|'devices reject --timeout'|'devices revoke --role'|'devices revoke --url'|'devices revoke --port'|'devices revoke --token'|'devices revoke --password'|'devices revoke --timeout'|'devices rotate --role'|'devices rotate --scopes'|'devices rotate --url'|'devices rotate --port'|'devices rotate --token'|'devices rotate --password'|'devices rotate --timeout'|'doctor --severity-min'|'doctor --only'|'doctor --skip'|'doctor --url'|'doctor --port'|'doctor --token'|'doctor --password'|'doctor --timeout'|'gateway --port'|'gateway --bind'|'gateway --auth'|'gateway --token'|'gateway --password'|'gateway --password-file'|'gateway --ws-log'|'gateway call --params'|'gateway call --url'|'gateway call --port'|'gateway call --token'|'gateway call --password'|'gateway call --timeout'|'gateway health --url'|'gateway health --port'|'gateway health --token'|'gateway health --password'|'gateway health --timeout'|'gateway hints --url'|'gateway hints --port'|'gateway hints --token'|'gateway hints --password'|'gateway hints --timeout'|'gateway install --port'|'gateway install --node'|'gateway probe --url'|'gateway probe --port'|'gateway probe --token'|'gateway probe --password'|'gateway probe --timeout'|'gateway restart --reason'|'gateway restart --wait'|'gateway restart --url'|'gateway restart --port'|'gateway restart --token'|'gateway restart --password'|'gateway restart --timeout'|'gateway run --port'|'gateway run --bind'|'gateway run --auth'|'gateway run --token'|'gateway run --password'|'gateway run --password-file'|'gateway run --ws-log'|'gateway status --url'|'gateway status --port'|'gateway status --token'|'gateway status --password'|'gateway status --timeout'|'health --url'|'health --port'|'health --token'|'health --password'|'health --timeout'|'hooks drop --url'|'hooks drop --port'|'hooks drop --token'|'hooks drop --password'|'hooks drop --timeout'|'hooks list --state'|'hooks list --limit'|'hooks list --url'|'hooks list --port'|'hooks list --token'|'hooks list --password'|'hooks list --timeout'|'hooks retry --url'|'hooks retry --port'|'hooks retry --token'|'hooks retry --password'|'hooks retry --timeout'|'hooks show --url'|'hooks show --port'|'hooks show --token'|'hooks show --password'|'hooks show --timeout'|'hooks test --payload'|'hooks test --header'|'hooks test --url'|'hooks test --port'|'hooks test --token'|'hooks test --password'|'hooks test --timeout'|'hooks token --url'|'hooks token --port'|'hooks token --token'|'hooks token --password'|'hooks token --timeout'|'import --agent'|'logs --limit'|'logs --max-bytes'|'logs --level'|'logs --interval'|'logs --subsystem'|'logs --url'|'logs --port'|'logs --token'|'logs --password'|'logs --timeout'|'mcp --url'|'mcp --port'|'mcp --token'|'mcp --password'|'mcp --timeout'|'mcp login --port'|'mcp login --url'|'mcp login --token'|'mcp login --password'|'mcp login --timeout'|'mcp logout --url'|'mcp logout --port'|'mcp logout --token'|'mcp logout --password'|'mcp logout --timeout'|'mcp revoke --url'|'mcp revoke --port'|'mcp revoke --token'|'mcp revoke --password'|'mcp revoke --timeout'|'mcp status --url'|'mcp status --port'|'mcp status --token'|'mcp status --password'|'mcp status --timeout'|'memory dream run --agent'|'memory dream run --url'|'memory dream run --port'|'memory dream run --token'|'memory dream run --password'|'memory dream run --timeout'|'memory dream status --agent'|'memory dream status --url'|'memory dream status --port'|'memory dream status --token'|'memory dream status --password'|'memory dream status --timeout'|'memory index --agent'|'memory index --url'|'memory index --port'|'memory index --token'|'memory index --password'|'memory index --timeout'|'memory promote --limit'|'memory promote --min-score'|'memory promote --min-recall-count'|'memory promote --min-unique-queries'|'memory promote --agent'|'memory promote --url'|'memory promote --port'|'memory promote --token'|'memory promote --password'|'memory promote --timeout'|'memory promote-explain --agent'|'memory promote-explain --url'|'memory promote-explain --port'|'memory promote-explain --token'|'memory promote-explain --password'|'memory promote-explain --timeout'|'memory provider set --model'|'memory provider set --agent'|'memory provider set --url'|'memory provider set --port'|'memory provider set --token'|'memory provider set --password'|'memory provider set --timeout'|'memory rem-backfill --path'|'memory rem-backfill --agent'|'memory rem-backfill --url'|'memory rem-backfill --port'|'memory rem-backfill --token'|'memory rem-backfill --password'|'memory rem-backfill --timeout'|'memory rem-harness --path'|'memory rem-harness --agent'|'memory rem-harness --url'|'memory rem-harness --port'|'memory rem-harness --token'|'memory rem-harness --password'|'memory rem-harness --timeout'|'memory reset --agent'|'memory reset --url'|'memory reset --port'|'memory reset --token'|'memory reset --password'|'memory reset --timeout'|'memory search --query'|'memory search --max-results'|'memory search --min-score'|'memory search --agent'|'memory search --url'|'memory search --port'|'memory search --token'|'memory search --password'|'memory search --timeout'|'memory status --agent'|'memory status --url'|'memory status --port'|'memory status --token'|'memory status --password'|'memory status --timeout'|'models list --provider'|'models list --agent'|'models list --url'|'models list --port'|'models list --token'|'models list --password'|'models list --timeout'|'models set --agent'|'models set --fallback'|'models set --url'|'models set --port'|'models set --token'|'models set --password'|'models set --timeout'|'models status --url'|'models status --port'|'models status --token'|'models status --password'|'models status --timeout'|'models test --agent'|'models test --timeout'|'models test --url'|'models test --port'|'models test --token'|'models test --password'|'pairing approve --account'|'pairing approve --url'|'pairing approve --port'|'pairing approve --token'|'pairing approve --password'|'pairing approve --timeout'|'pairing list --url'|'pairing list --port'|'pairing list --token'|'pairing list --password'|'pairing list --timeout'|'pairing reject --account'|'pairing reject --url'|'pairing reject --port'|'pairing reject --token'|'pairing reject --password'|'pairing reject --timeout'|'pairing revoke --account'|'pairing revoke --url'|'pairing revoke --port'|'pairing revoke --token'|'pairing revoke --password'|'pairing revoke --timeout'|'plugins create --kind'|'plugins create --dir'|'plugins dev --url'|'plugins dev --port'|'plugins dev --token'|'plugins dev --password'|'plugins dev --timeout'|'plugins disable --url'|'plugins disable --port'|'plugins disable --token'|'plugins disable --password'|'plugins disable --timeout'|'plugins doctor --severity-min'|'plugins doctor --url'|'plugins doctor --port'|'plugins doctor --token'|'plugins doctor --password'|'plugins doctor --timeout'|'plugins enable --url'|'plugins enable --port'|'plugins enable --token'|'plugins enable --password'|'plugins enable --timeout'|'plugins info --url'|'plugins info --port'|'plugins info --token'|'plugins info --password'|'plugins info --timeout'|'plugins install --grant'|'plugins install --confirm'|'plugins install --url'|'plugins install --port'|'plugins install --token'|'plugins install --password'|'plugins install --timeout'|'plugins list --url'|'plugins list --port'|'plugins list --token'|'plugins list --password'|'plugins list --timeout'|'plugins reload --url'|'plugins reload --port'|'plugins reload --token'|'plugins reload --password'|'plugins reload --timeout'|'plugins uninstall --url'|'plugins uninstall --port'|'plugins uninstall --token'|'plugins uninstall --password'|'plugins uninstall --timeout'|'runs replay --model'|'runs replay --timeout'|'runs replay --url'|'runs replay --port'|'runs replay --token'|'runs replay --password'|'secrets reload --url'|'secrets reload --port'|'secrets reload --token'|'secrets reload --password'|'secrets reload --timeout'|'sessions cleanup --url'|'sessions cleanup --port'|'sessions cleanup --token'|'sessions cleanup --password'|'sessions cleanup --timeout'|'sessions delete --url'|'sessions delete --port'|'sessions delete --token'|'sessions delete --password'|'sessions delete --timeout'|'sessions explain --session'|'sessions explain --newest'|'sessions explain --turn'|'sessions explain --url'|'sessions explain --port'|'sessions explain --token'|'sessions explain --password'|'sessions explain --timeout'|'sessions export --url'|'sessions export --port'|'sessions export --token'|'sessions export --password'|'sessions export --timeout'|'sessions fork --before'|'sessions fork --label'|'sessions fork --url'|'sessions fork --port'|'sessions fork --token'|'sessions fork --password'|'sessions fork --timeout'|'sessions list --agent'|'sessions list --search'|'sessions list --limit'|'sessions list --url'|'sessions list --port'|'sessions list --token'|'sessions list --password'|'sessions list --timeout'|'sessions reset --url'|'sessions reset --port'|'sessions reset --token'|'sessions reset --password'|'sessions reset --timeout'|'sessions show --limit'|'sessions show --url'|'sessions show --port'|'sessions show --token'|'sessions show --password'|'sessions show --timeout'|'setup --workspace'|'setup --bind'|'setup --port'|'status --url'|'status --port'|'status --token'|'status --password'|'status --timeout'|'system event --text'|'system event --mode'|'system event --agent'|'system event --session-key'|'system event --url'|'system event --port'|'system event --token'|'system event --password'|'system event --timeout'|'system heartbeat disable --url'|'system heartbeat disable --port'|'system heartbeat disable --token'|'system heartbeat disable --password'|'system heartbeat disable --timeout'|'system heartbeat enable --url'|'system heartbeat enable --port'|'system heartbeat enable --token'|'system heartbeat enable --password'|'system heartbeat enable --timeout'|'system heartbeat last --url'|'system heartbeat last --port'|'system heartbeat last --token'|'system heartbeat last --password'|'system heartbeat last --timeout'|'system presence --url'|'system presence --port'|'system presence --token'|'system presence --password'|'system presence --timeout'|'usage --days'|'usage --by'|'usage --agent'|'usage --url'|'usage --port'|'usage --token'|'usage --password'|'usage --timeout') return 0 ;;
    *' --profile'|*' --log-level') return 0 ;;
  esac
  return 1
}
_svc_values() {
  case "$1" in
    'agent --thinking') echo 'off minimal low medium high' ;;
    'channels logs --level') echo 'trace debug info warn error fatal' ;;
    'config set --ref-source') echo 'env file exec' ;;
    'cron add --wake') echo 'now next-heartbeat' ;;
    'cron add --thinking') echo 'off minimal low medium high' ;;
    'cron edit --wake') echo 'now next-heartbeat' ;;
    'cron edit --thinking') echo 'off minimal low medium high' ;;
    'devices revoke --role') echo 'operator node' ;;
    'devices rotate --role') echo 'operator node' ;;
    'doctor --severity-min') echo 'info warning error' ;;
    'gateway --bind') echo 'loopback lan tailnet auto custom' ;;
    'gateway --auth') echo 'token password none' ;;
    'gateway --ws-log') echo 'auto compact full' ;;
    'gateway run --bind') echo 'loopback lan tailnet auto custom' ;;
    'gateway run --auth') echo 'token password none' ;;
    'gateway run --ws-log') echo 'auto compact full' ;;
    'hooks list --state') echo 'accepted running done failed expired' ;;
    'logs --level') echo 'trace debug info warn error fatal' ;;
    'plugins create --kind') echo 'plain tool channel embedding model hook-preset' ;;
    'plugins doctor --severity-min') echo 'info warning error' ;;
    'setup --bind') echo 'loopback lan tailnet auto' ;;
    'system event --mode') echo 'now next-heartbeat' ;;
    'usage --by') echo 'day agent model session' ;;
    *' --log-level') echo 'trace debug info warn error silent' ;;
  esac
}
_svc() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}" offered=""
  local at="" word skip=0 i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    if ((skip)); then skip=0; continue; fi
    case "$word" in
      --profile|--log-level) skip=1; continue ;;
      -*) continue ;;
    esac
    if _svc_known "${at:+$at }$word"; then at="${at:+$at }$word"; fi
  done
  if [[ $cur == "=" ]]; then cur=""; fi
  if [[ $prev == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD - 2]}"; fi
  if _svc_takes_value "$at $prev"; then offered="$(_svc_values "$at $prev")"
  elif [[ $cur == -* ]]; then offered="$(_svc_flags "$at")"
  else offered="$(_svc_next "$at")"
  fi
  COMPREPLY=($(compgen -W "$offered" -- "$cur"))
}
complete -o default -F _svc svc
