/** Code that runs in a process which nothing is preloaded into. */
import { spawnSync } from 'node:child_process'

/** The document that a module of this text prints. */
export const apart = (program: string): Readonly<Record<string, string | number>> => {
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout) as Record<string, string | number>
}
