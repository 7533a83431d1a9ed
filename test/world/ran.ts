import type { Ran } from './place.js'

/** What a run wrote, ready to be looked at. */
export const ranOf = (status: number, bytes: Buffer, stderr: string): Ran => {
  const stdout = bytes.toString('utf8')
  return {
    status, stdout, stderr, bytes,
    json: () => JSON.parse(stdout),
    error: () => JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error,
  }
}
