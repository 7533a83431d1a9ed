/** Programs of others as clients of the service. */
import { spawn } from 'node:child_process'

/** What a program said. */
export interface Said {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs a program to its end, with nothing of this process's environment but the path. */
export const foreign = (
  program: string, args: readonly string[],
  { env = {}, stdin = '' }: {
    readonly env?: Readonly<Record<string, string>>
    readonly stdin?: string | Buffer
  } = {},
): Promise<Said> => new Promise((resolve, reject) => {
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', ...env }, stdio: 'pipe',
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('latin1')))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('latin1')))
  // A program that ends before it reads closes the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  child.on('error', reject)
  child.on('close', (status) => resolve({ status, stdout, stderr }))
})
