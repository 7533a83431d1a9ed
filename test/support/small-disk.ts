/** A disk that is really full: a file system in memory of some size, mounted for one program. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtApp } from '../world/process.js'
import { ranOf } from '../world/ran.js'
import type { Place, Ran } from '../world/place.js'

/** Mounting needs user namespaces, which not every machine gives. */
export const hasSmallDisks = spawnSync('unshare', ['-rm', 'true']).status === 0

/** What a run left on the small disk, by name and size, and what it said. */
export interface SmallDiskRun {
  readonly ran: Ran
  readonly left: readonly string[]
}

/** Runs one line while the folder `name` of the place is a disk of `kilobytes`, gone afterwards. */
export const onSmallDisk = async (
  place: Place, name: string, kilobytes: number, argv: readonly string[],
): Promise<SmallDiskRun> => {
  const folder = place.path(name)
  mkdirSync(folder, { recursive: true })
  const list = place.path(`${name}.left`)
  const line = 'mount -t tmpfs -o "size=$1k" none "$2" || exit 99; shift; folder=$1; list=$2; '
    + 'shift 2; "$@"; status=$?; find "$folder" -type f -printf "%P %s\\n" >"$list"; exit $status'
  const script = join(await builtApp(), 'sallyport.js')
  const { status, stdout, stderr } = spawnSync('unshare', [
    '-rm', 'sh', '-c', line, 'sh', String(kilobytes), folder, list,
    process.execPath, script, ...argv,
  ], { cwd: place.cwd, env: place.env })
  const left = readFileSync(list, 'utf8').split('\n').filter(Boolean)
  return { ran: ranOf(status ?? 1, stdout, stderr.toString('utf8')), left: left.sort() }
}
