/** Lines of `codehost publish` in short, and a world with a folder to publish. */
import type { Answer, Loose, Ran, RunOptions } from '../../world/place.js'
import { must } from '../must.js'
import { publishing, type Folder, type Publishing } from './publishing.js'

/** Somebody sits there. */
export const terminal = { stdin: true, stdout: true, stderr: true }

/** What the folder `site` has: six POSTs. */
export const files: Folder = {
  'README.md': '# Notes, of another kind\n', 'src/new.ts': 'export const one = "MARK-new"\n',
  'src/binary': Buffer.from([0, 1, 2, 255]),
}

/** What names a publication on a line; a flag of null is left out. */
export const line = (
  at: Publishing, more: Readonly<Record<string, string | null>> = {},
): string[] => [
  'codehost', 'publish', 'site', ...Object.entries({
    '--connection': at.id, '--base': 'main', '--branch': 'site-{id}', '--title': 'The site',
    '--author': 'Ann <ann@example.org>', ...more,
  }).flatMap(([flag, value]) => (value === null ? [] : [flag, value])),
]

/** Prepared by `--prepare`; gives its document. */
export const prepared = async (
  at: Publishing, more: Readonly<Record<string, string | null>> = {}, how?: RunOptions,
): Promise<Loose> => must(await at.run([...line(at, more), '--prepare', '--json'], how)).json()

/** Approves what was shown, and sends it. */
export const send = (at: Publishing, { job, digest }: Loose, how?: RunOptions): Promise<Ran> =>
  at.run(['codehost', 'publish', job, '--preview-digest', digest, '--json'], how)

/** The same at a terminal, where somebody answers. */
export const asked = (
  at: Publishing, answers: readonly Answer[],
  more: Readonly<Record<string, string | null>> = {},
): Promise<Ran> => at.run([...line(at, more), '--json'], { terminal, answers })

/** A world that may publish its folder `site`. */
export const withSite = async (...[t]: Parameters<typeof publishing>): Promise<Publishing> => {
  const at = await publishing(t)
  at.folder(files, 'site')
  return at
}

/** What `{id}` stands for. */
export const tailOf = (job: string): string => job.slice(-8)
