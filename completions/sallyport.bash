# bash completion of sallyport
_sallyport_ids() {
  local list="$1"
  [[ $list != any ]] || case "$cur" in
    op_*) list='ledger reservations' ;;
    goal_*) list='goal list' ;;
    root_*) list='session list' ;;
    cnn_*) list='codehost connections' ;;
    aud_*) list='audit list' ;;
    obs_*) list='shots list' ;;
    epi_*) list='shots list --digests' ;;
    edge_dev_*) list='edge list' ;;
    edge_art_*) list='edge artifacts' ;;
    job_*) list='codehost jobs' ;;
    cls_*) list='codehost recover closures' ;;
    *) list='task list' ;;
  esac
  sallyport ${place[@]+"${place[@]}"} --no-input --wait 0 $list 2>/dev/null | cut -f1 | grep -E '^[a-z_]*_[0-9a-f]{8}-'
}
# $1 flags, $2 words, $3 the list that has ids, $4 how paths are completed: what there is of these.
_sallyport_reply() {
  local words="$2"
  [[ $cur == -* || -z $3 ]] || words="$words $(_sallyport_ids "$3")"
  if [[ $cur == -* || -z "${words// /}$4" ]]; then words="$1"
  elif [[ -n $4 ]]; then compopt -o "$4" 2>/dev/null; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
_sallyport() {
  local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"
  local words=() place=() word at
  COMPREPLY=()
  # Files are completed where they are meant alone; without compopt wherever nothing else is.
  compopt +o default 2>/dev/null
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="${COMP_WORDS[at]}"
    case "$word" in
      --at|--state-dir|--config-dir) ((at++)); place+=("$word" "${COMP_WORDS[at]/#\~\//$HOME/}") ;;
      --wait) ((at++)) ;;
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  case "$prev" in
    --at) COMPREPLY=($(compgen -W "$(sallyport at list 2>/dev/null | cut -f1)" -- "$cur")); return ;;
    --state-dir|--config-dir) compopt -o dirnames 2>/dev/null; return ;;
    --wait) return ;;
  esac
  case "${words[*]:0:2}" in
    "codehost recover"|"help codehost") at=3 ;;
    *) at=2 ;;
  esac
  case "${words[*]:0:at}" in
    "") COMPREPLY=($(compgen -W "session principal goal alpha gateway shots receipt edge codehost task policy ledger audit at machine state timers sandbox setup init login logout status explain serve demo doctor schema completion help --help --version" -- "$cur")); return ;;
    "session") COMPREPLY=($(compgen -W "show list revoke --help" -- "$cur")); return ;;
    "principal") COMPREPLY=($(compgen -W "add list disable enable --help" -- "$cur")); return ;;
    "goal") COMPREPLY=($(compgen -W "add list show update close --help" -- "$cur")); return ;;
    "alpha") COMPREPLY=($(compgen -W "setup acknowledge show ask inputs drop --help" -- "$cur")); return ;;
    "gateway") COMPREPLY=($(compgen -W "setup show prove --help" -- "$cur")); return ;;
    "shots") COMPREPLY=($(compgen -W "setup scan run day estimate analyze reanalyze list show clear-stale status digest report --help" -- "$cur")); return ;;
    "receipt") COMPREPLY=($(compgen -W "export key verify --help" -- "$cur")); return ;;
    "edge") COMPREPLY=($(compgen -W "pair list revoke artifacts capture daemon --help" -- "$cur")); return ;;
    "codehost") COMPREPLY=($(compgen -W "connect connections mode disconnect consent revoke publish prepare preview approve run jobs cancel close-capacity recover --help" -- "$cur")); return ;;
    "codehost recover") COMPREPLY=($(compgen -W "reconcile adopt closures inspect discard observe verify --help" -- "$cur")); return ;;
    "task") COMPREPLY=($(compgen -W "list show review cancel recover close --help" -- "$cur")); return ;;
    "policy") COMPREPLY=($(compgen -W "show revoke --help" -- "$cur")); return ;;
    "ledger") COMPREPLY=($(compgen -W "show reservations review settle --help" -- "$cur")); return ;;
    "audit") COMPREPLY=($(compgen -W "list show --help" -- "$cur")); return ;;
    "at") COMPREPLY=($(compgen -W "add list remove --help" -- "$cur")); return ;;
    "machine") COMPREPLY=($(compgen -W "list invite join retire --help" -- "$cur")); return ;;
    "state") COMPREPLY=($(compgen -W "path check repair backup restore compact export keys prune share unshare accept-server destroy --help" -- "$cur")); return ;;
    "timers") COMPREPLY=($(compgen -W "install remove show --help" -- "$cur")); return ;;
    "sandbox") COMPREPLY=($(compgen -W "start stop status fault samples --help" -- "$cur")); return ;;
    "help session") COMPREPLY=($(compgen -W "show list revoke" -- "$cur")); return ;;
    "help principal") COMPREPLY=($(compgen -W "add list disable enable" -- "$cur")); return ;;
    "help goal") COMPREPLY=($(compgen -W "add list show update close" -- "$cur")); return ;;
    "help alpha") COMPREPLY=($(compgen -W "setup acknowledge show ask inputs drop" -- "$cur")); return ;;
    "help gateway") COMPREPLY=($(compgen -W "setup show prove" -- "$cur")); return ;;
    "help shots") COMPREPLY=($(compgen -W "setup scan run day estimate analyze reanalyze list show clear-stale status digest report" -- "$cur")); return ;;
    "help receipt") COMPREPLY=($(compgen -W "export key verify" -- "$cur")); return ;;
    "help edge") COMPREPLY=($(compgen -W "pair list revoke artifacts capture daemon" -- "$cur")); return ;;
    "help codehost") COMPREPLY=($(compgen -W "connect connections mode disconnect consent revoke publish prepare preview approve run jobs cancel close-capacity recover" -- "$cur")); return ;;
    "help codehost recover") COMPREPLY=($(compgen -W "reconcile adopt closures inspect discard observe verify" -- "$cur")); return ;;
    "help task") COMPREPLY=($(compgen -W "list show review cancel recover close" -- "$cur")); return ;;
    "help policy") COMPREPLY=($(compgen -W "show revoke" -- "$cur")); return ;;
    "help ledger") COMPREPLY=($(compgen -W "show reservations review settle" -- "$cur")); return ;;
    "help audit") COMPREPLY=($(compgen -W "list show" -- "$cur")); return ;;
    "help at") COMPREPLY=($(compgen -W "add list remove" -- "$cur")); return ;;
    "help machine") COMPREPLY=($(compgen -W "list invite join retire" -- "$cur")); return ;;
    "help state") COMPREPLY=($(compgen -W "path check repair backup restore compact export keys prune share unshare accept-server destroy" -- "$cur")); return ;;
    "help timers") COMPREPLY=($(compgen -W "install remove show" -- "$cur")); return ;;
    "help sandbox") COMPREPLY=($(compgen -W "start stop status fault samples" -- "$cur")); return ;;
    "setup"|"setup "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "init"|"init "*)
      case "$prev" in
        --profile) compopt -o default 2>/dev/null; return ;;
        --owner) COMPREPLY=(); return ;;
        --workspace) compopt -o default 2>/dev/null; return ;;
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
        --shared) COMPREPLY=(); return ;;
        --server-ca) compopt -o default 2>/dev/null; return ;;
        --server-password-file) compopt -o default 2>/dev/null; return ;;
        --machine-name) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--profile --owner --workspace --passphrase-file --shared --server-ca --server-password-file --machine-name --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "login"|"login "*)
      case "$prev" in
        --owner) COMPREPLY=(); return ;;
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
        --idle) COMPREPLY=(); return ;;
        --ttl) COMPREPLY=(); return ;;
        --token-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--owner --passphrase-file --idle --ttl --replace --token-file --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "logout"|"logout "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "session show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "session list")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "session list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--all --live --limit --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "session revoke")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "session list" ""
      ;;
    "principal add")
      case "$prev" in
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--passphrase-file --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "principal list")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "principal disable")
      _sallyport_reply "--yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "principal enable")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "goal add")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "goal list")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "goal list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--open --limit --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "goal show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "goal list" ""
      ;;
    "goal update")
      case "$prev" in
        --title) COMPREPLY=(); return ;;
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--title --expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "goal list" ""
      ;;
    "goal close")
      case "$prev" in
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "goal list" ""
      ;;
    "alpha setup")
      case "$prev" in
        --max-output-tokens) COMPREPLY=(); return ;;
        --timeout-seconds) COMPREPLY=(); return ;;
        --request-cost-bound) COMPREPLY=(); return ;;
        --spend-ceiling) COMPREPLY=(); return ;;
        --api-key-file) compopt -o default 2>/dev/null; return ;;
        --expected-revision) COMPREPLY=(); return ;;
        --from) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--enable --disable --max-output-tokens --timeout-seconds --request-cost-bound --spend-ceiling --api-key-file --acknowledge --expected-revision --void-answers --remove-key --from --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "alpha acknowledge")
      _sallyport_reply "--acknowledge --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "alpha show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "alpha ask")
      case "$prev" in
        --idempotency-key) COMPREPLY=(); return ;;
        --idempotency-text) COMPREPLY=(); return ;;
        --file) compopt -o default 2>/dev/null; return ;;
        --from) compopt -o default 2>/dev/null; return ;;
        --max-output-tokens) COMPREPLY=(); return ;;
        --goal) COMPREPLY=($(compgen -W "$(_sallyport_ids "goal list")" -- "$cur")); return ;;
        --wait-turn) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--idempotency-key --idempotency-text --file --from --max-output-tokens --goal --wait-turn --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "alpha inputs")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "alpha drop")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "gateway setup")
      case "$prev" in
        --slot) COMPREPLY=($(compgen -W "chat report screenshot" -- "$cur")); return ;;
        --model) COMPREPLY=(); return ;;
        --upstream-allow) COMPREPLY=(); return ;;
        --request-cost-bound) COMPREPLY=(); return ;;
        --timeout-seconds) COMPREPLY=(); return ;;
        --remove-slot) COMPREPLY=($(compgen -W "chat report screenshot" -- "$cur")); return ;;
        --api-key-file) compopt -o default 2>/dev/null; return ;;
        --spend-ceiling) COMPREPLY=(); return ;;
        --consent) COMPREPLY=($(compgen -W "gateway.chat gateway.report gateway.digest gateway.vision" -- "$cur")); return ;;
        --expected-revision) COMPREPLY=(); return ;;
        --from) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--slot --model --upstream-allow --request-cost-bound --timeout-seconds --remove-slot --api-key-file --spend-ceiling --consent --enable --disable --acknowledge --expected-revision --void-answers --remove-key --from --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "gateway show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "gateway prove")
      _sallyport_reply "--all --if-stale --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "chat report screenshot" "" ""
      ;;
    "shots setup")
      case "$prev" in
        --folder) compopt -o default 2>/dev/null; return ;;
        --recursive) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --analysis) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --cloud-upload) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --fallbacks) COMPREPLY=($(compgen -W "deny allow" -- "$cur")); return ;;
        --data-collection) COMPREPLY=($(compgen -W "deny allow" -- "$cur")); return ;;
        --zdr) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --renew-proof) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --reuse) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --settle-seconds) COMPREPLY=(); return ;;
        --key-alone) COMPREPLY=($(compgen -W "on off" -- "$cur")); return ;;
        --budget) COMPREPLY=(); return ;;
        --budget-requests) COMPREPLY=(); return ;;
        --request-cost-bound) COMPREPLY=(); return ;;
        --analysis-job-timeout-seconds) COMPREPLY=(); return ;;
        --set) COMPREPLY=($(compgen -W "visual_run_refresh_minutes= ingest_enabled= ingest_interval_minutes= ingest_limit= analysis_limit= analysis_concurrency= analysis_interval_seconds= digest_enabled= digest_interval_minutes= digest_window_minutes= digest_max_chars=" -- "$cur")); return ;;
        --devices) COMPREPLY=($(compgen -W "all none" -- "$cur")); return ;;
        --ignore) COMPREPLY=(); return ;;
        --no-ignore) COMPREPLY=(); return ;;
        --unset) COMPREPLY=($(compgen -W "screenshot_folder recursive analysis cloud_upload fallbacks data_collection zdr renew_proof reuse settle_seconds key_alone budget_microusd budget_requests request_cost_bound_microusd visual_run_refresh_minutes ingest_enabled ingest_interval_minutes ingest_limit analysis_limit analysis_concurrency analysis_interval_seconds analysis_job_timeout_seconds digest_enabled digest_interval_minutes digest_window_minutes digest_max_chars devices ignore" -- "$cur")); return ;;
        --from) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--folder --recursive --analysis --cloud-upload --fallbacks --data-collection --zdr --renew-proof --reuse --settle-seconds --key-alone --budget --budget-requests --request-cost-bound --analysis-job-timeout-seconds --set --devices --ignore --no-ignore --unset --from --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots scan")
      case "$prev" in
        --folder) compopt -o default 2>/dev/null; return ;;
        --limit) COMPREPLY=(); return ;;
        --from) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--folder --limit --from --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots run")
      _sallyport_reply "--once --watch --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots day")
      case "$prev" in
        --from) COMPREPLY=(); return ;;
        --to) COMPREPLY=(); return ;;
        --time-zone) COMPREPLY=(); return ;;
        --csv) compopt -o default 2>/dev/null; return ;;
        --ical) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--from --to --time-zone --csv --ical --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots estimate")
      case "$prev" in
        --day) COMPREPLY=(); return ;;
        --time-zone) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--day --time-zone --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots analyze")
      case "$prev" in
        --include) COMPREPLY=($(compgen -W "unsettled" -- "$cur")); return ;;
        --limit) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--include --limit --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots reanalyze")
      case "$prev" in
        --reason) COMPREPLY=($(compgen -W "prompt_version_changed model_version_changed provider_failure_retry manual_operator_request" -- "$cur")); return ;;
        --limit) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--reason --blocked --failed --needs --limit --release --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "shots list" "plusdirs"
      ;;
    "shots list")
      case "$prev" in
        --status) COMPREPLY=($(compgen -W "pending blocked succeeded failed needs_reanalysis" -- "$cur")); return ;;
        --since) COMPREPLY=(); return ;;
        --limit) COMPREPLY=(); return ;;
        --search) COMPREPLY=(); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "shots list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--status --since --limit --archived --search --digests --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots show")
      _sallyport_reply "--analysis --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "any" ""
      ;;
    "shots clear-stale")
      _sallyport_reply "--yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots status")
      case "$prev" in
        --max-age) COMPREPLY=(); return ;;
        --max-analysis-age) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--max-age --max-analysis-age --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots digest")
      case "$prev" in
        --window-end) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--window-end --retry --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "shots report")
      case "$prev" in
        --since) COMPREPLY=(); return ;;
        --until) COMPREPLY=(); return ;;
        --day) COMPREPLY=(); return ;;
        --week) COMPREPLY=(); return ;;
        --month) COMPREPLY=(); return ;;
        --html) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--since --until --day --week --month --html --conclude --retry --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "receipt export")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "any" ""
      ;;
    "receipt key")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "receipt verify")
      case "$prev" in
        --key) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--key --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "edge pair")
      case "$prev" in
        --name) COMPREPLY=(); return ;;
        --file) compopt -o default 2>/dev/null; return ;;
        --max-bytes) COMPREPLY=(); return ;;
        --max-items) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--name --file --here --allow-cloud-egress --allow-model-egress --max-bytes --max-items --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "edge list")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "edge revoke")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "edge list" ""
      ;;
    "edge artifacts")
      case "$prev" in
        --out) compopt -o default 2>/dev/null; return ;;
        --device) COMPREPLY=($(compgen -W "$(_sallyport_ids "edge list")" -- "$cur")); return ;;
        --limit) COMPREPLY=(); return ;;
        --before) COMPREPLY=($(compgen -W "$(_sallyport_ids "edge artifacts")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--out --device --limit --before --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "edge artifacts" ""
      ;;
    "edge capture")
      case "$prev" in
        --request-id) COMPREPLY=(); return ;;
        --purpose) COMPREPLY=(); return ;;
        --source) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--request-id --purpose --source --cloud-egress --model-egress --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "edge daemon")
      case "$prev" in
        --pair-file) compopt -o default 2>/dev/null; return ;;
        --name) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--once --pair-file --name --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "codehost connect")
      case "$prev" in
        --connection) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost connections")" -- "$cur")); return ;;
        --repo) COMPREPLY=(); return ;;
        --token-file) compopt -o default 2>/dev/null; return ;;
        --mode) COMPREPLY=($(compgen -W "disabled reconcile_only" -- "$cur")); return ;;
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--connection --repo --token-file --mode --expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "codehost connections")
      _sallyport_reply "--grants --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "codehost mode")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "disabled reconcile_only" "codehost connections" ""
      ;;
    "codehost disconnect")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost connections" ""
      ;;
    "codehost consent")
      case "$prev" in
        --action) COMPREPLY=($(compgen -W "issue.create comment.create git.object.create git.ref.create pull_request.create" -- "$cur")); return ;;
        --duration) COMPREPLY=(); return ;;
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--action --duration --acknowledge --expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost connections" ""
      ;;
    "codehost revoke")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost connections" ""
      ;;
    "codehost publish")
      case "$prev" in
        --preview-digest) COMPREPLY=(); return ;;
        --connection) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost connections")" -- "$cur")); return ;;
        --base) COMPREPLY=(); return ;;
        --branch) COMPREPLY=(); return ;;
        --title) COMPREPLY=(); return ;;
        --body-file) compopt -o default 2>/dev/null; return ;;
        --author) COMPREPLY=(); return ;;
        --message-file) compopt -o default 2>/dev/null; return ;;
        --goal) COMPREPLY=($(compgen -W "$(_sallyport_ids "goal list")" -- "$cur")); return ;;
        --idempotency-key) COMPREPLY=(); return ;;
        --idempotency-text) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--prepare --preview-digest --connection --base --branch --title --body-file --author --message-file --mark --goal --idempotency-key --idempotency-text --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" "plusdirs"
      ;;
    "codehost prepare")
      case "$prev" in
        --idempotency-key) COMPREPLY=(); return ;;
        --idempotency-text) COMPREPLY=(); return ;;
        --connection) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost connections")" -- "$cur")); return ;;
        --title) COMPREPLY=(); return ;;
        --body-file) compopt -o default 2>/dev/null; return ;;
        --issue) COMPREPLY=(); return ;;
        --source) compopt -o default 2>/dev/null; return ;;
        --base) COMPREPLY=(); return ;;
        --branch) COMPREPLY=(); return ;;
        --author) COMPREPLY=(); return ;;
        --message-file) compopt -o default 2>/dev/null; return ;;
        --goal) COMPREPLY=($(compgen -W "$(_sallyport_ids "goal list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--idempotency-key --idempotency-text --connection --title --body-file --issue --mark --source --base --branch --author --message-file --goal --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "issue comment publication" "" ""
      ;;
    "codehost preview")
      _sallyport_reply "--diff --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost approve")
      case "$prev" in
        --preview-digest) COMPREPLY=(); return ;;
        --connection) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost connections")" -- "$cur")); return ;;
        --action) COMPREPLY=($(compgen -W "issue.create comment.create" -- "$cur")); return ;;
        --until) COMPREPLY=(); return ;;
        --max-jobs) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--preview-digest --standing --connection --action --until --max-jobs --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost run")
      _sallyport_reply "--approved --resume --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost jobs")
      case "$prev" in
        --history) COMPREPLY=($(compgen -W "effects artifacts checkpoints reads" -- "$cur")); return ;;
        --readback) COMPREPLY=(); return ;;
        --connection) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost connections")" -- "$cur")); return ;;
        --state) COMPREPLY=($(compgen -W "prepared approved running succeeded unknown_external_effect blocked failed cancelled" -- "$cur")); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost jobs")" -- "$cur")); return ;;
        --limit) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--history --readback --connection --state --after --limit --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost cancel")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost close-capacity")
      case "$prev" in
        --from) compopt -o default 2>/dev/null; return ;;
        --expected-job-revision) COMPREPLY=(); return ;;
        --expected-connection-revision) COMPREPLY=(); return ;;
        --expected-connection-fence) COMPREPLY=(); return ;;
        --idempotency-key) COMPREPLY=(); return ;;
        --remote-id) COMPREPLY=(); return ;;
        --remote-commit-id) COMPREPLY=(); return ;;
        --pr-number) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--from --retry --acknowledge --expected-job-revision --expected-connection-revision --expected-connection-fence --idempotency-key --remote-id --remote-commit-id --pr-number --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover reconcile")
      case "$prev" in
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover adopt")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover closures")
      case "$prev" in
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "codehost recover closures")" -- "$cur")); return ;;
        --limit) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--receipt --after --limit --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost recover closures" ""
      ;;
    "codehost recover inspect")
      case "$prev" in
        --from) compopt -o default 2>/dev/null; return ;;
        --idempotency-key) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--from --idempotency-key --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover discard")
      case "$prev" in
        --idempotency-key) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--idempotency-key --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover observe")
      case "$prev" in
        --from) compopt -o default 2>/dev/null; return ;;
        --expected-revision) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--from --acknowledge --expected-revision --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "codehost jobs" ""
      ;;
    "codehost recover verify")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "task list")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --state) COMPREPLY=($(compgen -W "prepared accepted queued running succeeded blocked failed cancelled" -- "$cur")); return ;;
        --kind) COMPREPLY=(); return ;;
        --goal) COMPREPLY=($(compgen -W "$(_sallyport_ids "goal list")" -- "$cur")); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "task list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--limit --open --state --kind --goal --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "task show")
      _sallyport_reply "--output --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "task list" ""
      ;;
    "task review")
      _sallyport_reply "--approve --reject --accept-overrun --accept-held --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "task list" ""
      ;;
    "task cancel")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "task list" ""
      ;;
    "task recover")
      _sallyport_reply "--all --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "task list" ""
      ;;
    "task close")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "task list" ""
      ;;
    "policy show")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --after) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--history --limit --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "policy revoke")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "ledger show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "ledger reservations")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "ledger reservations")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--all --limit --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "ledger review")
      _sallyport_reply "--accept --reject --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "ledger reservations" ""
      ;;
    "ledger settle")
      case "$prev" in
        --where) COMPREPLY=(); return ;;
        --amount) COMPREPLY=(); return ;;
        --note-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--where --amount --note-file --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "ledger reservations" ""
      ;;
    "audit list")
      case "$prev" in
        --limit) COMPREPLY=(); return ;;
        --since) COMPREPLY=(); return ;;
        --what) COMPREPLY=(); return ;;
        --principal) COMPREPLY=(); return ;;
        --after) COMPREPLY=($(compgen -W "$(_sallyport_ids "audit list")" -- "$cur")); return ;;
      esac
      _sallyport_reply "--limit --since --what --principal --after --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "audit show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "audit list" ""
      ;;
    "at add")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "at list")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "at remove")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "$(sallyport at list 2>/dev/null | cut -f1)" "" ""
      ;;
    "machine list")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "machine invite")
      case "$prev" in
        --to) compopt -o default 2>/dev/null; return ;;
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--to --passphrase-file --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "machine join")
      case "$prev" in
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
        --server-password-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--passphrase-file --server-password-file --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "machine retire")
      _sallyport_reply "--yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "status"|"status "*)
      _sallyport_reply "--watch --check --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "explain"|"explain "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "any" ""
      ;;
    "state path")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state check")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "state repair")
      case "$prev" in
        --owner) COMPREPLY=(); return ;;
        --lost) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--owner --lost --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state backup")
      _sallyport_reply "--salvage --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "state restore")
      case "$prev" in
        --owner) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--owner --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "state compact")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state export")
      _sallyport_reply "--jsonl --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state keys")
      case "$prev" in
        --release) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--release --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state prune")
      case "$prev" in
        --older-than) COMPREPLY=(); return ;;
        --aside) COMPREPLY=(); return ;;
        --kept) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--older-than --dry-run --aside --show --kept --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state share")
      case "$prev" in
        --server-ca) compopt -o default 2>/dev/null; return ;;
        --server-password-file) compopt -o default 2>/dev/null; return ;;
        --machine-name) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--server-ca --server-password-file --machine-name --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state unshare")
      case "$prev" in
        --owner) COMPREPLY=(); return ;;
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--owner --passphrase-file --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state accept-server")
      case "$prev" in
        --owner) COMPREPLY=(); return ;;
        --passphrase-file) compopt -o default 2>/dev/null; return ;;
        --without) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--owner --passphrase-file --without --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "state destroy")
      case "$prev" in
        --acknowledged-destroy) COMPREPLY=(); return ;;
        --acknowledged-open) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--acknowledged-destroy --acknowledged-open --dry-run --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "timers install")
      case "$prev" in
        --with) COMPREPLY=($(compgen -W "systemd launchd cron" -- "$cur")); return ;;
        --max-age) COMPREPLY=(); return ;;
        --mail-to) COMPREPLY=(); return ;;
        --public) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--with --max-age --mail-to --serve --public --edge --yes --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "timers remove")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "timers show")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "serve"|"serve "*)
      case "$prev" in
        --port) COMPREPLY=(); return ;;
        --public) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--port --log-requests --page --open --public --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "sandbox start")
      case "$prev" in
        --dir) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--dir --background --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "sandbox stop")
      case "$prev" in
        --dir) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--dir --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "sandbox status")
      case "$prev" in
        --dir) compopt -o default 2>/dev/null; return ;;
      esac
      _sallyport_reply "--dir --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "sandbox fault")
      case "$prev" in
        --dir) compopt -o default 2>/dev/null; return ;;
        --service) COMPREPLY=($(compgen -W "provider gateway codehost" -- "$cur")); return ;;
        --times) COMPREPLY=(); return ;;
        --after) COMPREPLY=(); return ;;
        --value) COMPREPLY=(); return ;;
      esac
      _sallyport_reply "--dir --service --times --after --value --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "set clear list delay hang_before_headers hang_mid_body drip close_before_headers reset_before_headers reset_mid_body truncate first_line_http2 first_line_foreign first_line_nul switching chunked redirect_301 redirect_302 redirect_303 redirect_307 redirect_308 gzip br deflate encoding_unnamed_gzip oversize oversize_chunked status_400 status_401 status_402 status_403 status_404 status_408 status_413 status_429 status_500 status_502 status_503 status_504 not_json malformed trailing empty_body duplicate_key deep bom bad_utf8 lone_surrogate billing_delay billing_hang_before_headers billing_hang_mid_body billing_drip billing_close_before_headers billing_reset_before_headers billing_reset_mid_body billing_truncate billing_first_line_http2 billing_first_line_foreign billing_first_line_nul billing_switching billing_chunked billing_redirect_301 billing_redirect_302 billing_redirect_303 billing_redirect_307 billing_redirect_308 billing_gzip billing_br billing_deflate billing_encoding_unnamed_gzip billing_oversize billing_oversize_chunked billing_status_400 billing_status_401 billing_status_402 billing_status_403 billing_status_404 billing_status_408 billing_status_413 billing_status_429 billing_status_500 billing_status_502 billing_status_503 billing_status_504 billing_not_json billing_malformed billing_trailing billing_empty_body billing_duplicate_key billing_deep billing_bom billing_bad_utf8 billing_lone_surrogate read_delay read_hang_before_headers read_hang_mid_body read_drip read_close_before_headers read_reset_before_headers read_reset_mid_body read_truncate read_first_line_http2 read_first_line_foreign read_first_line_nul read_switching read_chunked read_redirect_301 read_redirect_302 read_redirect_303 read_redirect_307 read_redirect_308 read_gzip read_br read_deflate read_encoding_unnamed_gzip read_oversize read_oversize_chunked read_status_400 read_status_401 read_status_402 read_status_403 read_status_404 read_status_408 read_status_413 read_status_429 read_status_500 read_status_502 read_status_503 read_status_504 read_not_json read_malformed read_trailing read_empty_body read_duplicate_key read_deep read_bom read_bad_utf8 read_lone_surrogate write_delay write_hang_before_headers write_hang_mid_body write_drip write_close_before_headers write_reset_before_headers write_reset_mid_body write_truncate write_first_line_http2 write_first_line_foreign write_first_line_nul write_switching write_chunked write_redirect_301 write_redirect_302 write_redirect_303 write_redirect_307 write_redirect_308 write_gzip write_br write_deflate write_encoding_unnamed_gzip write_oversize write_oversize_chunked write_status_400 write_status_401 write_status_402 write_status_403 write_status_404 write_status_408 write_status_413 write_status_429 write_status_500 write_status_502 write_status_503 write_status_504 write_not_json write_malformed write_trailing write_empty_body write_duplicate_key write_deep write_bom write_bad_utf8 write_lone_surrogate wrong_id empty_id no_id id_number id_257_bytes header_absent header_wrong header_malformed header_compact header_braced header_urn header_uppercase header_empty header_repeated header_repeated_other wrong_model no_model two_choices zero_choices no_choices error_beside error_null error_in_choice chunk_object delta tool_calls tool_calls_null tool_calls_empty function_call null_content no_content content_parts wrong_role empty_answer answer_over_64k answer_64k control_characters reasoning refusal wrong_upstream no_upstream no_cost usage_cost billing_no_entry billing_no_entry_once billing_no_envelope billing_bare_list billing_error_beside billing_error_null billing_duplicate_entry billing_extra_entry billing_other_id billing_no_request_id billing_uppercase_id billing_500_once billing_500_always billing_no_cost billing_negative billing_negative_zero billing_above_range billing_top_of_range billing_huge billing_float billing_fraction billing_exponent billing_bool billing_string billing_null billing_list billing_zero_first billing_zero_always billing_cost billing_overrun billing_warning_text billing_warning_space billing_warning_empty billing_warning_null billing_warning_false billing_warning_zero billing_warning_list billing_warning_object shot_prose shot_fenced shot_trailing_text shot_truncated_json shot_comment shot_duplicate_field shot_nan shot_unknown_field shot_unknown_nested_field shot_missing_field shot_other_schema shot_other_activity shot_other_artifact shot_other_goal shot_other_needle shot_confidence_low shot_confidence_high shot_confidence_text shot_confidence_null shot_unknowns shot_secret shot_password shot_chat shot_sensitive_snippets shot_injection shot_long_snippet shot_long_log shot_cut shot_huge_error read_limit_spent write_limit_spent write_too_fast write_too_many write_not_done_500 write_not_done_422 write_limit_named write_not_done_404 write_not_done_408 write_not_done_409 write_exists_422 read_not_there write_timed_out write_cut_422 write_error_beside read_error_beside write_error_null read_error_null write_other_id write_other_text write_elsewhere write_old_time write_no_time write_no_author write_other_author tree_truncated tree_cut tree_other_row blob_other_bytes commit_other_message ref_moved repository_renumbered repository_archived repository_no_push pull_closed pull_draft pull_retitled pull_counts pull_moved issue_elsewhere read_no_time read_old_time read_spaced read_reordered read_other_author read_no_author issue_other_body comment_elsewhere files_cut files_twice read_no_date files_more" "" ""
      ;;
    "sandbox samples")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" "default"
      ;;
    "demo"|"demo "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "story alpha shots edge codehost all" "" ""
      ;;
    "doctor"|"doctor "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "schema"|"schema "*)
      _sallyport_reply "--input --help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "" "" ""
      ;;
    "completion"|"completion "*)
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "bash zsh fish" "" ""
      ;;
    "help")
      _sallyport_reply "--help --at --state-dir --config-dir --json --paged --no-input --quiet --verbose --no-color --no-pager --utc --wait" "environment exit-status json files platforms consent money profile real-key anchor shared glossary retired-route session principal goal alpha gateway shots receipt edge codehost task policy ledger audit at machine state timers sandbox setup init login logout status explain serve demo doctor schema completion help" "" ""
      ;;
  esac
}
complete -o default -F _sallyport sallyport
