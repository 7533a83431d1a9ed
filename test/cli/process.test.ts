import { spawn } from 'node:child_process'
import type { ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const here = fileURLToPath(import.meta.url)
const program = join(here, '../../support/children', `streams${extname(here)}`)

const start = (t: Tap, ...args: string[]): ChildProcessWithoutNullStreams => {
  const child = spawn(process.execPath, [...process.execArgv, program, ...args], { stdio: 'pipe' })
  t.teardown(() => child.kill('SIGKILL'))
  child.stderr.setEncoding('utf8')
  return child
}

/** What these helpers need of `t`. */
interface Tap {
  teardown(fn: () => unknown): void
}

const sees = async (child: ChildProcessWithoutNullStreams, text: string): Promise<void> => {
  let seen = ''
  for await (const chunk of child.stderr.iterator({ destroyOnReturn: false })) {
    seen += chunk
    if (seen.includes(text)) return
  }
}

t.test('everything written is flushed to a slow reader before the end', async (t) => {
  const bytes = 4_000_000
  const child = start(t, 'write', String(bytes))
  // Not its last words: where the pipe makes the program wait, they come when all has been read.
  await once(child.stdout, 'readable')
  let read = 0
  child.stdout.on('data', (chunk: Buffer) => (read += chunk.byteLength))
  const [status] = await once(child, 'close')
  t.strictSame([status, read], [0, bytes])
})

t.test('a reader that goes away is no failure', async (t) => {
  const child = start(t, 'write', '4000000')
  child.stdout.destroy()
  const [status] = await once(child, 'close')
  t.equal(status, 0)
})

t.test('stdin is read to its end', async (t) => {
  const child = start(t, 'read')
  child.stdin.end('y'.repeat(200_000))
  const [chunk] = await once(child.stdout, 'data')
  t.equal(String(chunk), '200000')
})

t.test('a folder on stdin is told as one, and is not read as nothing', async (t) => {
  const folder = openSync(t.testdir({}), 'r')
  t.teardown(() => closeSync(folder))
  const child = spawn(process.execPath, [...process.execArgv, program, 'read'], {
    stdio: [folder, 'pipe', 'pipe'],
  })
  const told = new Promise<string>((resolve) => {
    let text = ''
    child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()))
    child.stderr?.on('end', () => resolve(text))
  })
  const [status] = await once(child, 'exit')
  t.not(status, 0)
  t.match(await told, 'EISDIR')
})

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  t.test(`${signal} asks the program to stop, which ends with 130`, async (t) => {
    const child = start(t, 'stop')
    await sees(child, 'ready')
    child.kill(signal)
    const [status] = await once(child, 'close')
    t.equal(status, 130)
  })
}

t.test('a hangup asks nothing of a program that nohup started, as the shell names it', async (t) => {
  const said = async (line: string): Promise<string> => {
    const child = spawn('bash', ['-c', `${line}; true`, process.execPath, ...process.execArgv,
      program, 'hangup'], { stdio: ['ignore', 'pipe', 'ignore'] })
    t.teardown(() => child.kill('SIGKILL'))
    let text = ''
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
    await once(child, 'close')
    return text
  }
  t.equal(await said('nohup "$0" "$@"'), 'went on')
  t.equal(await said('"$0" "$@"'), 'stopped')
})

t.test('the second signal ends a program that does not stop, with its last words', async (t) => {
  const child = start(t, 'hang')
  await sees(child, 'ready')
  child.kill('SIGINT')
  await sees(child, 'stopping')
  const heard = sees(child, 'last words\n')
  child.kill('SIGINT')
  const [status] = await once(child, 'close')
  await heard
  t.equal(status, 130)
})
