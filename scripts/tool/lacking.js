// What a machine may lack that a test needs. A test is left out for such a reason alone, and only
// where the runner itself finds that it is so: a test decides for nobody that it need not run.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { arm64Lacks, arm64Node } from './arm64.js'
import { canNspawn } from './nspawn.js'

const fails = (program, args) => spawnSync(program, args, { stdio: 'ignore' }).status !== 0

const isMissing = (program) => spawnSync(program, ['--version']).error !== undefined

const probes = {
  'strace is missing or may not trace here': () =>
    fails('strace', ['-f', '-e', 'trace=network', 'true']),
  'needs /proc': () => !existsSync('/proc/locks'),
  'needs /dev/full': () => !existsSync('/dev/full'),
  'needs the program script': () => fails('script', ['-qec', 'true', '/dev/null']),
  'needs the program systemd-analyze': () => fails('systemd-analyze', ['--version']),
  'needs the program openssl': () => fails('openssl', ['version']),
  'needs the program python3': () => fails('python3', ['--version']),
  'needs /usr/bin/python3': () => !existsSync('/usr/bin/python3'),
  'needs the program curl': () => fails('curl', ['--version']),
  'needs the program systemd-socket-activate': () =>
    fails('systemd-socket-activate', ['--version']),
  'needs sshd and its folder /run/sshd': () =>
    !existsSync('/usr/sbin/sshd') || !existsSync('/run/sshd'),
  'needs the program bash': () => fails('bash', ['-c', 'true']),
  'needs the program zsh': () => fails('zsh', ['-c', 'true']),
  'needs the program fish': () => fails('fish', ['-c', 'true']),
  'bwrap is not installed': () => isMissing('bwrap'),
  'bwrap may make no user namespaces here': () =>
    fails('bwrap', ['--unshare-user', '--ro-bind', '/', '/', 'true']),
  'bindfs is not installed': () => isMissing('bindfs'),
  'no user namespaces here': () => fails('unshare', ['-rm', 'true']),
  'no network namespaces here': () =>
    fails('unshare', ['-rn', 'ip', 'link', 'set', 'lo', 'up']),
  'systemd-nspawn makes no containers here': () => !canNspawn(),
  'needs an arm64 Node (npm run tarball) and qemu-user': () =>
    !existsSync(arm64Node) || arm64Lacks() !== null,
}

/** Every reason for which a test may be left out. */
export const reasons = Object.keys(probes)

const found = new Map()

/** Whether this machine lacks what a reason names; asked once for each. No for any other reason. */
export const lacks = (reason) => {
  if (!Object.hasOwn(probes, reason)) return false
  if (!found.has(reason)) found.set(reason, probes[reason]())
  return found.get(reason)
}
