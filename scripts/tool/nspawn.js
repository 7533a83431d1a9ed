// Containers of systemd-nspawn that need no systemd on this machine: root starts them, in control
// groups of their own, which go with them.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** Parts of a user's own manager, by Debian's places. */
const managerParts = [
  '/usr/lib/systemd/systemd', '/usr/bin/dbus-daemon', '/usr/lib/systemd/user/dbus.socket',
]

/** Roots of the hierarchies of control groups in which systemd keeps its units. */
const groupRoots = () => ['.', 'systemd', 'unified'].map((name) => join('/sys/fs/cgroup', name))
  .filter((path) => existsSync(join(path, 'cgroup.procs')))

/**
 * The line that starts a container; its process becomes nspawn. Within, control groups are of
 * version 2 whatever they are here: with those of version 1 systemd hears of no group that has
 * become empty.
 * @param {string} name of the container and of its control groups
 * @param {readonly string[]} words options of nspawn, and what it runs
 * @returns {{ file: string, args: readonly string[], env: Record<string, string | undefined> }}
 */
export const nspawnLine = (name, words) => {
  const joins = groupRoots().map((path) => join(path, name))
    .map((path) => `mkdir -p '${path}' && echo $$ > '${path}/cgroup.procs'`)
  return {
    file: '/bin/sh',
    args: [
      '-c', `${joins.join('\n')}\nexec "$@"`, 'sh', 'systemd-nspawn', '--quiet', '--register=no',
      '--keep-unit', '--private-network', '--console=pipe', `--machine=${name}`, ...words,
    ],
    env: { PATH: process.env.PATH, UNIFIED_CGROUP_HIERARCHY: '1' },
  }
}

/** Control groups of a container that are there. */
export const groupsNamed = (name) =>
  groupRoots().map((path) => join(path, name)).filter((path) => existsSync(path))

/** Removes a control group that no process is in, and those below it. */
export const removeGroup = (path) => {
  for (const one of readdirSync(path, { withFileTypes: true })) {
    if (one.isDirectory()) removeGroup(join(path, one.name))
  }
  rmdirSync(path)
}

/** Whether root may start a container of systemd here; it runs one program and is gone. */
export const canNspawn = () => {
  if (process.getuid?.() !== 0 || !managerParts.every((path) => existsSync(path))) return false
  if (spawnSync('nsenter', ['--version']).status !== 0) return false
  const name = `sallyport-${process.pid}`
  const { file, args, env } = nspawnLine(name, ['--volatile=yes', '--directory=/', '/bin/true'])
  const { status } = spawnSync(file, args, { env })
  for (const path of groupsNamed(name)) removeGroup(path)
  return status === 0
}
