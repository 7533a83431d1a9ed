/**
 * What runs on a booted machine for some minutes: the timers of `timers install`, the service
 * behind its socket, a paired device and `shots run`, by the units that the pages show. All of them
 * are killed, fail and are stopped once; then the machine is switched off and on; then everything
 * is removed.
 */
import { mkdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Loose, Place } from '../../world/place.js'
import { greyPng } from '../png.js'
import { until } from '../until.js'
import { Booted, owner } from './booted.js'
import { livedOf, saidBy, type Lived } from './journal.js'
import { pageUnits } from './page-units.js'
import { settingUpThere, stepsOf } from './walk.js'

const units = `${owner.home}/.config/systemd/user`
const port = 8443
const jobs = ['scan', 'analyze', 'digest', 'age'] as const
const [mailed, tickMs] = ['owner@localhost', 5_000]

/** What a life came to. */
export interface Life {
  /** Files that `timers install` made. */
  readonly installed: readonly string[]
  /** What `doctor` says of the recipe of the service. */
  readonly doctor: readonly string[]
  /** Each unit over both boots, and behind the second alone. */
  readonly lived: ReadonlyMap<string, Lived>
  readonly second: ReadonlyMap<string, Lived>
  /** Requests that were sent to the service, and how many were answered with 200. */
  readonly asked: number
  readonly answered: number
  /** Pictures put in the folder; those that were taken in, with samples, and analysed. */
  readonly pictures: number
  readonly ingested: number
  readonly analyzed: number
  /** Captures of the device that the service has; each picture was one. */
  readonly stored: number
  /** Mails about jobs that failed. */
  readonly mails: number
  /** What scan and analysis wrote into the journal themselves. */
  readonly scanTold: string
  readonly analyzeTold: string
  /** Jobs of which `timers show` told a failure while the folder of screenshots was gone. */
  readonly failedTold: readonly string[]
  /** How the service ended that was stopped. */
  readonly stopped: string
  readonly isSound: boolean
  /** What is left of units, links and processes once everything was removed. */
  readonly left: readonly string[]
  /** What is left of the machine on this one. */
  readonly leftHere: readonly string[]
}

/** The life of one machine, step by step. */
class Living {
  asked = 0
  answered = 0
  pictures = 0

  constructor(readonly machine: Booted) {}

  /** Runs a script as the owner, which has to succeed. */
  must(script: string): string {
    const { status, stdout, stderr } = this.machine.asOwner(`set -e\n${script}`)
    if (status === 0) return stdout
    throw new Error(`${script.slice(0, 200)}\nended with ${status}: ${stdout.slice(-500)}${stderr}`)
  }

  /** The value of one property of a unit. */
  property(unit: string, name: string): string {
    return this.must(`systemctl --user show --property=${name} --value ${unit}`).trim()
  }

  write(name: string, text: string): void {
    this.must(`mkdir -p "$(dirname '${name}')"\ncat > '${name}' <<'END'\n${text}END`)
  }

  /** Asks the service whether it is well. */
  ask(): boolean {
    const script = `/opt/node -e '
      require("https").get({
        host: "127.0.0.1", port: ${port}, path: "/healthz", rejectUnauthorized: false,
        timeout: 30000,
      }, (reply) => { process.exitCode = reply.statusCode === 200 ? 0 : 1; reply.resume() })'`
    this.asked += 1
    const isWell = this.machine.asOwner(script).status === 0
    if (isWell) this.answered += 1
    return isWell
  }

  /** One more picture in the folder, where that is there, and one for the device. */
  picture(): void {
    const name = `shot-${String(this.pictures).padStart(3, '0')}.png`
    const text = greyPng(320, 200, this.pictures).toString('base64')
    const isThere = this.must(`
if [ -d screens ]; then
  base64 -d > next.png <<'END'
${text}
END
  mv next.png screens/${name}
  sallyport edge capture screens/${name} --json >/dev/null
  echo yes
fi`) !== ''
    if (!isThere) return
    this.pictures += 1
  }

  /** Goes on with what the machine does all the time, until something holds. */
  async goOn(what: string, holds: () => boolean): Promise<void> {
    let ticks = 0
    await until(what, async () => {
      this.ask()
      if (ticks % 3 === 0) this.picture()
      ticks += 1
      await sleep(tickMs)
      return holds()
    })
  }
}

const provider = `[Service]
ExecStart=/opt/bin/sallyport sandbox start --dir ${owner.home}/sandbox

[Install]
WantedBy=default.target
`

/** The slot of digests, behind that of pictures. */
const digests = `
revision=$(s gateway show --json | field policy_revision)
step digests s gateway setup --slot report --model gateway/acme/text-1 \\
  --upstream-allow acme-host --api-key-file "$V/sandbox/gateway-api.key" --spend-ceiling 1.00usd \\
  --consent gateway.report gateway.digest --acknowledge-cloud-egress \\
  --expected-policy-revision "$revision" --json
step proven s gateway prove report --json
`

/** The machine has a sandbox, a state and everything that analysis and digests ask for. */
const setUp = async (at: Living): Promise<void> => {
  at.write(`${units}/provider.service`, provider)
  at.must('systemctl --user enable --now provider.service')
  await until('the sandbox runs', () =>
    at.machine.asOwner('[ -f sandbox/profile.json ]').status === 0)
  const { stdout } = at.machine.asOwner(`umask 077
V=$HOME; W=/tmp; NODE=/opt/node; APP=${at.machine.app}
${settingUpThere}${digests}`)
  const steps = stepsOf(stdout)
  for (const [name, { status, stderr }] of steps) {
    if (status !== 0) throw new Error(`${name} ended with ${status}: ${stderr}`)
  }
}

/** The service behind its socket, a device that is paired with it, and `shots run`. */
const install = (at: Living): { readonly installed: readonly string[]; doctor: Loose } => {
  const made: Loose = JSON.parse(at.must(
    `sallyport timers install --yes --check-age 2h --mail-to ${mailed} --json 2>/dev/null`))
  for (const { name, text } of pageUnits('/opt/bin/sallyport')) at.write(`${units}/${name}`, text)
  at.must(`chmod 600 ${units}/sallyport*
systemctl --user daemon-reload
systemctl --user enable --now sallyport.socket`)
  at.ask()
  at.must(`sallyport edge pair --file pairing.txt --name camera --json >/dev/null
sallyport edge daemon --pair-file pairing.txt --once --json >/dev/null
systemctl --user enable --now sallyport-edge.service sallyport-shots.service`)
  const { stdout } = at.machine.asOwner('sallyport doctor --json')
  return { installed: made.entries, doctor: JSON.parse(stdout) }
}

/** Each of the long-running ones is killed; systemd starts it anew, the service at a request. */
const kill = async (at: Living): Promise<void> => {
  // The page waits five minutes before it starts a daemon anew.
  at.write(`${units}/sallyport-edge.service.d/sooner.conf`, '[Service]\nRestartSec=10\n')
  at.must('systemctl --user daemon-reload')
  const names = ['sallyport.service', 'sallyport-edge.service', 'sallyport-shots.service']
  for (const name of names) at.must(`systemctl --user kill --signal=SIGKILL ${name}`)
  await at.goOn('what was killed is back', () =>
    names.every((name) => at.property(name, 'ActiveState') === 'active'))
  at.must('systemctl --user disable --now sallyport-shots.service')
}

const ranOf = (at: Living, job: string, boot?: number): Lived => {
  const found = [...livedOf(at.machine, boot)].find(([unit]) => unit.endsWith(`-${job}.service`))
  return found?.[1] ?? { ran: 0, failed: 0, again: 0 }
}

const allRan = (at: Living, boot: number): boolean =>
  jobs.every((job) => ranOf(at, job, boot).ran > 0)

/** The jobs of which `timers show` tells an exit status that is not 0. */
const failedOf = (at: Living): readonly string[] => {
  const { units }: Loose = JSON.parse(at.must('sallyport timers show --json'))
  return (units as readonly Loose[]).filter((one) => one.last_exit > 0).map((one) => one.job)
}

/** The folder of the screenshots is gone for a while; gives what is told to have failed by then. */
const failScans = async (at: Living): Promise<readonly string[]> => {
  at.must('mv screens elsewhere')
  await at.goOn('a scan has failed', () => ranOf(at, 'scan').failed > 0)
  const before = ranOf(at, 'scan').ran
  const told = failedOf(at)
  at.must('mv elsewhere screens')
  await at.goOn('a scan runs again', () => ranOf(at, 'scan').ran > before)
  return told
}

const stopService = (at: Living): string => {
  at.must('systemctl --user stop sallyport.service')
  return `${at.property('sallyport.service', 'Result')} `
    + at.property('sallyport.service', 'ExecMainStatus')
}

const remove = (at: Living): readonly string[] => {
  at.must(`sallyport timers remove --json >/dev/null
systemctl --user disable --now sallyport.socket sallyport.service sallyport-edge.service 2>&1
rm -r ${units}/sallyport*
systemctl --user daemon-reload
systemctl --user reset-failed`)
  const left = at.must(`systemctl --user list-units --all --plain --no-legend 'sallyport*'
systemctl --user list-unit-files --no-legend 'sallyport*' || true
find .config/systemd .local/share/systemd -name '*sallyport*' 2>/dev/null || true
ps -u ${owner.name} -o args= | grep '[s]allyport.js' | grep -v 'sandbox start' || true`)
  return left.split('\n').filter((line) => line !== '')
}

const countsOf = (at: Living) => {
  const told = (line: string): Loose => JSON.parse(at.must(`sallyport ${line} --json`))
  const observed = told('shots list') as readonly Loose[]
  const mails = at.must('grep -c "^Subject: .* failed" mail || true')
  return {
    asked: at.asked, answered: at.answered, pictures: at.pictures,
    ingested: observed.length, isSound: told('state check').ok as boolean,
    analyzed: observed.filter((one) => one.analysis_status === 'succeeded').length,
    stored: (told('edge artifacts').artifacts as readonly Loose[]).length,
    mails: Number(mails),
  }
}

/**
 * Boots a machine at a place, has it live for some minutes, and switches it off.
 * @param minutes at least; each step of the life takes its time
 */
export const liveBooted = async (place: Place, minutes: number): Promise<Life> => {
  const root = place.path('root')
  mkdirSync(root)
  const machine = await Booted.in(root)
  const begin = performance.now()
  try {
    await machine.boot()
    const at = new Living(machine)
    await setUp(at)
    const { installed, doctor } = install(at)
    await at.goOn('each job has run', () => allRan(at, 1))
    await kill(at)
    const failedTold = await failScans(at)
    const stopped = stopService(at)
    await at.goOn('a request starts it', () =>
      at.property('sallyport.service', 'ActiveState') === 'active')
    await machine.off()
    await machine.boot()
    await at.goOn('each job has run again', () => allRan(at, 2))
    while (performance.now() - begin < minutes * 60_000) {
      await at.goOn('it goes on', () => true)
    }
    const [lived, second] = [livedOf(machine), livedOf(machine, 2)]
    const [scanTold, analyzeTold] = ['-scan', '-analyze']
      .map((name) => saidBy(machine, `${name}.service`)) as [string, string]
    const left = remove(at)
    const counts = countsOf(at)
    await machine.off()
    return {
      installed, lived, second, left, stopped, scanTold, analyzeTold, failedTold,
      leftHere: machine.left(), ...counts,
      doctor: doctor.checks.filter(({ name }: Loose) => /^service (socket|unit)$/.test(name))
        .map(({ result, text }: Loose) => `${result}: ${text}`),
    }
  } finally {
    await machine.off()
  }
}
