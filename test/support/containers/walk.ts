/** What is typed in a container: from nothing to a report, a backup and a sound state. */

/**
 * `step NAME COMMAND…` tells its name and status in a line that begins with ==, then what it said
 * on stdout, then on stderr behind a line of its own. $V is the volume, $W a folder to write to.
 */
const shell = `set -u
s() { "$NODE" "$APP/sallyport.js" "$@"; }
step() {
  name=$1; shift
  "$@" >"$W/out" 2>"$W/err"
  echo "== $name $?"; cat "$W/out"; echo "-- "; cat "$W/err"
}
field() { "$NODE" -p 'JSON.parse(require("fs").readFileSync(0))[process.argv[1]]' "$1"; }
ask() { printf '%s' "$1" | s alpha ask - --json; }
`

const starting = 'step sandbox s sandbox start --background --json --dir "$V/sandbox"\n'

const settingUp = `
step init s init --profile "$V/sandbox/profile.json" --workspace "$V/work" --json
step login s login --json
step setup s alpha setup --enable --acknowledge-plaintext-egress --expected-policy-revision 1 \\
  --api-key-file "$V/sandbox/provider-api.key" --max-output-tokens 256 --timeout-seconds 30 \\
  --request-cost-bound 0.10usd --spend-ceiling 1.00usd --json
step samples s sandbox samples "$V/screens"
step config s shots setup --folder "$V/screens" --analysis on --cloud-upload on \\
  --fallbacks deny --data-collection deny --zdr on --budget 0.20usd --budget-requests 40 \\
  --request-cost-bound 0.02usd --json
revision=$(s gateway show --json | field policy_revision)
step gateway s gateway setup --slot screenshot --model gateway/acme/sees-1 \\
  --upstream-allow acme-host --api-key-file "$V/sandbox/gateway-api.key" --spend-ceiling 1.00usd \\
  --request-cost-bound 0.02usd --consent gateway.vision --acknowledge-cloud-egress \\
  --expected-policy-revision "$revision" --json
step prove s gateway prove screenshot --json
`

const working = `
step ask ask 'What is a sally port?'
step scan s shots scan --json
step analyze s shots analyze --json
step report s shots report --json
step backup s state backup "$V/backup" --json
`

const ending = `
step tasks s alpha tasks --json
step list s shots list --json
step check s state check --json
step doctor s doctor --json
step seen s sandbox status --json --dir "$V/sandbox"
step stop s sandbox stop --json --dir "$V/sandbox"
step again s sandbox start --background --json --dir "$V/sandbox"
step stopped s sandbox stop --json --dir "$V/sandbox"
`

/** The volume is full, and then it has room again. */
const filling = `
cat "$V/screens/inbox.jpg" > "$V/screens/new.jpg"
printf 'x\\377\\331' >> "$V/screens/new.jpg"
cat /dev/zero > "$V/filler" 2>/dev/null
step full:ask ask 'Is there room?'
step full:scan s shots scan --json
step full:login s login --json
step full:goal s goal add 'Water the plants.' --json
step full:backup s state backup "$V/backup-2" --json
step full:check s state check --json
step full:tasks s alpha tasks --json
step full:list s shots list --json
rm "$V/filler"
step after:check s state check --json
step after:scan s shots scan --json
step after:ask ask 'Is there room?'
`

/** The whole walk; `isFilled` fills the volume on the way. */
export const walkOf = (isFilled: boolean): string =>
  [shell, starting, settingUp, working, isFilled ? filling : '', ending].join('')

/** From nothing to a proof of the gateway, against a sandbox that runs already. */
export const settingUpThere = [shell, settingUp].join('')

/** One line alone, as a step `one`. */
export const lineOf = (line: string): string => `${shell}step one s ${line} --json\n`

/** What one step of a walk said. */
export interface Step {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** The steps of a walk by their names, from what it wrote. */
export const stepsOf = (written: string): ReadonlyMap<string, Step> =>
  new Map([...written.matchAll(/^== (\S+) (\d+)\n([^]*?)^-- \n([^]*?)(?=^== |(?![^]))/gm)]
    .map(([, name = '', status, stdout = '', stderr = '']) =>
      [name, { status: Number(status), stdout, stderr }]))
