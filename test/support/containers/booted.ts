/**
 * A machine that systemd boots: a container of systemd-nspawn, made of this machine's /usr, which
 * it may only read. Its network has a loopback alone, and its one user, `owner`, is logged in
 * nowhere: lingering keeps their manager.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync, chownSync, copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync,
  symlinkSync, writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { builtApp } from '../../world/process.js'
import { patienceMs } from '../speed.js'
import { until } from '../until.js'

/** What scripts/tool/nspawn.js gives. */
interface Nspawn {
  nspawnLine(name: string, words: readonly string[]): {
    readonly file: string
    readonly args: readonly string[]
    readonly env: NodeJS.ProcessEnv
  }
  groupsNamed(name: string): readonly string[]
  removeGroup(path: string): void
}

const tool = async <T>(name: string): Promise<T> =>
  await import(join(process.cwd(), 'scripts/tool', name)) as T

/** Why a test of a booted systemd is left out; false where this machine can boot one. */
export const needsBoot = async (): Promise<string | false> => {
  const reason = 'systemd-nspawn makes no containers here'
  const { lacks } = await tool<{ lacks(reason: string): boolean }>('lacking.js')
  return lacks(reason) ? reason : false
}

/** The one user of the machine. */
export const owner = { name: 'owner', uid: 1000, home: '/home/owner' } as const

const accounts = [
  'root:x:0:0::/root:/bin/sh', 'messagebus:x:901:901::/nonexistent:/bin/false',
  'nobody:x:65534:65534::/nonexistent:/bin/false',
  `${owner.name}:x:${owner.uid}:${owner.uid}::${owner.home}:/bin/sh`,
]

/** Whoever asks PAM is let in; the user's manager is told to logind, which gives it its folder. */
const pam = {
  other: ['auth', 'account', 'password', 'session'].map((one) => `${one} required pam_permit.so`),
  'systemd-user': [
    'account required pam_permit.so', 'session required pam_permit.so',
    'session optional pam_systemd.so',
  ],
}

/** Units of the system that such a machine has no use for. */
const masked = ['console-getty.service', 'getty.target', 'systemd-firstboot.service']

/** However its test ends, such a machine switches itself off. */
const minutesMost = 20
const lastMinute = {
  'etc/systemd/system/end.service': ['[Service]', 'ExecStart=/usr/bin/systemctl poweroff'],
  'etc/systemd/system/multi-user.target.wants/end.timer': [
    '[Timer]', `OnBootSec=${minutesMost}min`,
  ],
}

const filesOf = (app: string): Readonly<Record<string, readonly string[]>> => ({
  'etc/passwd': accounts,
  'etc/group': accounts.map((one) => one.split(':').slice(0, 3).join(':') + ':'),
  'etc/nsswitch.conf': ['passwd: files', 'group: files', 'hosts: files'],
  'etc/hosts': ['127.0.0.1 localhost', '::1 localhost'],
  'etc/hostname': ['booted'],
  // The same at each boot: the journal is kept by it.
  'etc/machine-id': ['5a111f0275a111f0275a111f0275a111'],
  'etc/pam.d/other': pam.other,
  'etc/pam.d/systemd-user': pam['systemd-user'],
  [`var/lib/systemd/linger/${owner.name}`]: [],
  ...lastMinute,
  'opt/bin/sallyport': ['#!/bin/sh', `exec /opt/node ${app}/sallyport.js "$@"`],
  'opt/bin/sendmail': ['#!/bin/sh', `cat >> ${owner.home}/mail; echo == >> ${owner.home}/mail`],
})

const layOut = (root: string, app: string): void => {
  for (const name of [
    'dev', 'proc', 'run', 'sys', 'tmp', 'usr', 'root', 'etc/systemd/system', 'var/log/journal',
    owner.home.slice(1),
  ]) mkdirSync(join(root, name), { recursive: true })
  for (const name of ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32']) {
    if (existsSync(join('/usr', name))) symlinkSync(`usr/${name}`, join(root, name))
  }
  // nspawn looks for it before it mounts /usr.
  copyFileSync('/usr/lib/os-release', join(root, 'etc/os-release'))
  for (const name of masked) symlinkSync('/dev/null', join(root, 'etc/systemd/system', name))
  for (const [name, lines] of Object.entries(filesOf(app))) {
    mkdirSync(join(root, dirname(name)), { recursive: true })
    writeFileSync(join(root, name), lines.map((line) => `${line}\n`).join(''))
    if (name.startsWith('opt/bin/')) chmodSync(join(root, name), 0o755)
  }
  // Whoever calls this may have a stricter mask; the units of the system run as others, too.
  for (const name of ['.', 'etc', 'opt', 'opt/bin', 'home']) chmodSync(join(root, name), 0o755)
  chmodSync(join(root, owner.home), 0o700)
  chownSync(join(root, owner.home), owner.uid, owner.uid)
}

/** What something that ran in the machine wrote, and how it ended. */
export interface RanThere {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The first process of the container; null before there is one. */
const firstOf = (nspawn: number): number | null => {
  try {
    const text = readFileSync(`/proc/${nspawn}/task/${nspawn}/children`, 'utf8')
    return text === '' ? null : Number(text.split(' ')[0])
  } catch {
    return null
  }
}

/** A machine that is made once, and booted and switched off as often as one likes. */
export class Booted {
  #nspawn: ChildProcess | null = null
  #said = ''

  readonly #name = `sallyport-${randomUUID().slice(0, 8)}`

  private constructor(
    readonly root: string, readonly app: string, private readonly tool: Nspawn,
  ) {}

  /** Lays its files out in an empty folder. */
  static async in(folder: string): Promise<Booted> {
    const app = await builtApp()
    layOut(folder, app)
    return new Booted(folder, app, await tool('nspawn.js'))
  }

  /** Boots it, and waits until its system and the manager of its owner are up. */
  async boot(): Promise<void> {
    const project = process.cwd()
    const { file, args, env } = this.tool.nspawnLine(this.#name, [
      '--boot', '--link-journal=no', '--resolv-conf=off', '--timezone=off',
      `--directory=${this.root}`, '--bind-ro=/usr', `--bind-ro=${process.execPath}:/opt/node`,
      `--bind-ro=${project}`, 'systemd.unit=multi-user.target', 'systemd.firstboot=off',
    ])
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env })
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (piece: Buffer) => { this.#said += piece.toString() })
    }
    this.#nspawn = child
    await until('systemd has booted', () => {
      if (child.exitCode !== null) throw new Error(`nspawn ended: ${this.#said}`)
      const { stdout } = this.asRoot('systemctl is-system-running')
      return /^(running|degraded)/.test(stdout)
    })
    await until('the manager of the owner is up', () =>
      this.asOwner('systemctl --user is-system-running').stdout === 'running\n')
  }

  #enter(words: readonly string[], input: string): RanThere {
    const first = this.#nspawn?.pid === undefined ? null : firstOf(this.#nspawn.pid)
    if (first === null) return { status: null, stdout: '', stderr: 'it is not up' }
    const { status, stdout, stderr } = spawnSync('nsenter', [
      '--target', String(first), '--mount', '--pid', '--ipc', '--uts', '--net', '--cgroup',
      '--root', '--wd', ...words,
    ], {
      input, encoding: 'utf8', timeout: 4 * patienceMs(), maxBuffer: 1e8,
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    })
    return { status, stdout, stderr }
  }

  /** Runs a script there as root. */
  asRoot(script: string): RanThere {
    return this.#enter(['/bin/sh', '-s'], script)
  }

  /** Runs a script there as the owner, as a shell of theirs would. */
  asOwner(script: string): RanThere {
    const { name, uid, home } = owner
    return this.#enter([
      'setpriv', `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', 'env', '-i',
      `HOME=${home}`, `USER=${name}`, `LOGNAME=${name}`, 'PATH=/opt/bin:/usr/bin:/bin',
      `XDG_RUNTIME_DIR=/run/user/${uid}`, '/bin/sh', '-s',
    ], `cd\n${script}`)
  }

  /** Switches it off as its power button would, and removes its control groups. */
  async off(): Promise<void> {
    const child = this.#nspawn
    if (child === null) return
    this.#nspawn = null
    const first = firstOf(child.pid ?? 0)
    const timer = setTimeout(() => {
      // Without its keeper the machine would go on.
      if (first !== null) process.kill(first, 'SIGKILL')
      child.kill('SIGKILL')
    }, patienceMs())
    await new Promise<void>((resolve) => {
      if (child.exitCode !== null || child.signalCode !== null) return resolve()
      child.once('close', () => resolve())
      child.kill('SIGTERM')
    })
    clearTimeout(timer)
    for (const path of this.tool.groupsNamed(this.#name)) this.tool.removeGroup(path)
  }

  /** What of it is left on this machine: control groups, and processes whose root it was. */
  left(): readonly string[] {
    const processes = readdirSync('/proc').filter((name) => /^\d+$/.test(name)).filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(this.root)
      } catch {
        return false
      }
    })
    return [...this.tool.groupsNamed(this.#name), ...processes]
  }
}
