import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync, mkdirSync, openSync, readdirSync, readlinkSync, realpathSync, writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { isBlankKey, isUsableKey } from '../../src/alpha/api-key.js'
import { readInput, readInputText, readSecret } from '../../src/cli/input.js'
import type { InputSource } from '../../src/cli/input.js'
import type { VerbDeps } from '../../src/cli/verb.js'
import { until } from '../support/until.js'
import type { Place, Ran } from '../world/place.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import { patienceMs } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'

type Read = (deps: VerbDeps, source: InputSource) => Promise<unknown>

/** Reads in a run, and gives what was read or the failure. */
const reading = async (
  place: Place, read: Read, from: string, bytesMax: number, stdin?: string | Uint8Array,
): Promise<{ ran: Ran; value: unknown }> => {
  let value: unknown
  const ran = await place.run(['thing', 'do', '--json'], {
    ...(stdin === undefined ? {} : { stdin }),
    commands: fakeCommands(async (_options, deps) => {
      value = await read(deps, { from, flag: '--x-file', bytesMax })
      return {}
    }),
  })
  return { ran, value }
}

t.test('files and stdin are taken exactly as they are, up to the limit', async (t) => {
  const place = World.in(t).place
  const bytes = Buffer.from([0, 255, 10, 32, 10])
  writeFileSync(place.path('f'), bytes)
  t.strictSame((await reading(place, readInput, 'f', 5)).value, bytes)
  t.strictSame((await reading(place, readInput, '-', 5, bytes)).value, bytes)
  t.strictSame((await reading(place, readInput, '-', 0)).value, Buffer.alloc(0))
  const big = Buffer.alloc(300_000, 7)
  writeFileSync(place.path('big'), big)
  t.strictSame((await reading(place, readInput, 'big', 300_000)).value, big)
})

t.test('one byte beyond the limit is refused, naming flag and limit', async (t) => {
  const place = World.in(t).place
  writeFileSync(place.path('f'), 'abcdef')
  for (const from of ['f', '-']) {
    const { ran } = await reading(place, readInput, from, 5, 'abcdef')
    t.equal(ran.status, 3)
    t.strictSame(ran.error().details, { flag: '--x-file', bytes_max: 5 })
    t.notMatch(ran.stderr, 'abc')
  }
})

t.test('what cannot be read is refused, naming the flag and not the path', async (t) => {
  const place = World.in(t).place
  mkdirSync(place.path('folder'))
  const missing = await reading(place, readInput, 'no-such-thing', 5)
  t.equal(missing.ran.status, 3)
  t.strictSame(missing.ran.error().details, { flag: '--x-file', errno: 'ENOENT' })
  t.notMatch(missing.ran.stderr, 'no-such-thing')
  const folder = await reading(place, readInput, 'folder', 5)
  t.equal(folder.ran.error().details.errno, 'EISDIR')
})

t.test('text is UTF-8 without exception, and keeps a byte order mark', async (t) => {
  const place = World.in(t).place
  t.equal((await reading(place, readInputText, '-', 99, ' é\r\n\n')).value, ' é\r\n\n')
  t.equal((await reading(place, readInputText, '-', 99, '\uFEFFx')).value, '\uFEFFx')
  const bad = await reading(place, readInputText, '-', 99, Buffer.from([0xc3, 0x28]))
  t.strictSame([bad.ran.status, bad.ran.error().code], [3, 'input_not_utf8'])
})

t.test('a secret is one line; one line end after it is dropped and nothing else', async (t) => {
  const place = World.in(t).place
  for (const [given, kept] of [
    ['key', 'key'], ['key\n', 'key'], ['key\r\n', 'key'], [' key ', ' key '], ['', ''], ['\n', ''],
  ] as const) {
    t.equal((await reading(place, readSecret, '-', 99, given)).value, kept)
  }
  for (const given of ['a\nb', 'key\n\n', 'a\u0000b', '\tkey', 'key\u007f']) {
    const { ran } = await reading(place, readSecret, '-', 99, given)
    t.strictSame([ran.status, ran.error().code], [3, 'secret_malformed'])
  }
})

t.test('a key file gives its text without the one line end that editors add', async (t) => {
  const place = World.in(t).place
  const keyOf = async (text: string): Promise<string> => {
    writeFileSync(place.path('key'), text)
    return String((await reading(place, readSecret, 'key', 99)).value)
  }
  for (const text of ['sk-1\n', 'sk-1\r\n', 'sk-1']) t.equal(await keyOf(text), 'sk-1')
  t.notOk(isUsableKey(await keyOf('sk-é\n')))
  t.ok(isBlankKey(await keyOf('\n')))
  writeFileSync(place.path('key'), 'sk-1\n\n')
  t.equal((await reading(place, readSecret, 'key', 99)).ran.error().code, 'secret_malformed')
})

t.test('a secret that was read is cut out of the stack of a later defect', async (t) => {
  const place = World.in(t).place
  const ran = await place.run(['thing', 'do'], {
    stdin: 'correct horse battery\n',
    commands: fakeCommands(async (_options, deps) => {
      const secret = await readSecret(deps, { from: '-', flag: '--key', bytesMax: 99 })
      throw new Error(`lost ${secret}`)
    }),
  })
  t.match(ran.stderr, 'lost [cut]')
  t.notMatch(ran.stderr, 'horse')
})

const mkfifo = (path: string): string => {
  execFileSync('mkfifo', [path])
  return path
}

t.test('a named pipe is read whole once somebody writes to it, up to the limit', async (t) => {
  const place = World.in(t).place
  const pipe = mkfifo(place.path('pipe'))
  const write = (command: string) => spawn('sh', ['-c', `${command} > "$1"`, 'sh', pipe])
  for (const [command, bytes] of [
    ['sleep 0.3; printf abc', Buffer.from('abc')], [':', Buffer.alloc(0)],
    ['head -c 300000 /dev/zero', Buffer.alloc(300_000)],
  ] as const) {
    const read = reading(place, readInput, 'pipe', 300_000)
    const writer = write(command)
    t.strictSame((await read).value, bytes, command)
    if (writer.exitCode === null) await once(writer, 'close')
  }
  const read = reading(place, readInput, 'pipe', 5)
  const writer = write('printf abcdef')
  t.equal((await read).ran.error().code, 'input_too_large')
  if (writer.exitCode === null) await once(writer, 'close')
})

t.test('a folder, a socket and a disk are refused, naming the flag and the kind', async (t) => {
  const place = World.in(t).place
  mkdirSync(place.path('folder'))
  const folder = await reading(place, readInput, 'folder', 5)
  t.hasStrict(folder.ran.error(), {
    code: 'input_unreadable', message: 'What --x-file names is a folder, not a file or pipe.',
    details: { flag: '--x-file', errno: 'EISDIR', kind: 'folder' },
  })
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(place.path('socket'), resolve))
  t.teardown(() => server.close())
  const socket = await reading(place, readInput, 'socket', 5)
  t.hasStrict(socket.ran.error(), { code: 'input_unreadable', details: { errno: 'ENXIO' } })
  t.match(socket.ran.error().message, /is a socket/)
})

t.test('a device without an end is read up to the limit, an empty one is empty', async (t) => {
  const place = World.in(t).place
  t.strictSame((await reading(place, readInput, '/dev/null', 5)).value, Buffer.alloc(0))
  t.equal((await reading(place, readInput, '/dev/zero', 5)).ran.error().code, 'input_too_large')
})

const hasOpen = (pid: number, path: string): boolean => {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder).some((fd) => readlinkSync(join(folder, fd)) === path)
  } catch {
    // A descriptor was closed meanwhile, or the process has ended.
    return false
  }
}

/** Waits until a process has a file open, or has ended. */
const opens = async (child: ChildProcess, path: string): Promise<boolean> => {
  const real = realpathSync(path)
  let isOpen = false
  await until('the file is open there', () => {
    isOpen = hasOpen(child.pid ?? 0, real)
    return isOpen || child.exitCode !== null || child.signalCode !== null
  })
  return isOpen
}

const linux = process.platform === 'linux' ? {} : { skip: 'needs /proc' }

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  for (const writer of [false, true]) {
    const what = writer ? 'whose writer is silent' : 'without a writer'
    t.test(`${signal} ends a program that waits for a pipe ${what}`, linux, async (t) => {
      const place = World.in(t).place
      const pipe = mkfifo(place.path('pipe'))
      let waits = false
      const ran = await place.spawn(['init', '--owner', 'maria', '--profile', './pipe'], {
        onChild: async (child) => {
          waits = await opens(child, pipe)
          const fd = writer && waits ? openSync(pipe, 'w') : null
          child.kill(signal)
          await once(child, 'close')
          if (fd !== null) closeSync(fd)
        },
      })
      t.ok(waits, 'it was waiting')
      t.equal(ran.status, 130)
      t.match(ran.stderr, 'Cancelled')
    })
  }
}

t.test('process substitution is read, also when its command has ended long ago', async (t) => {
  const place = World.in(t).place
  const program = join(await builtApp(), 'sallyport.js')
  for (const [command, told] of [
    ['echo; echo x', 'not JSON (line 2, column 1)'],
    ['sleep 1; echo; echo x', 'not JSON (line 2, column 1)'],
    ['true', 'not JSON (line 1, column 1)'],
    ['head -c 3000000 /dev/zero', 'What --profile names is larger than'],
  ] as const) {
    const script = `"$1" "$2" init --owner maria --profile <(${command})`
    const child = spawn('bash', ['-c', script, 'bash', process.execPath, program], {
      cwd: place.cwd, env: place.env, stdio: ['ignore', 'ignore', 'pipe'],
    })
    const timer = setTimeout(() => child.kill('SIGKILL'), patienceMs())
    let text = ''
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    const [status] = await once(child, 'close')
    clearTimeout(timer)
    t.equal(status, 3, command)
    t.ok(text.includes(told), `${command}: ${text}`)
  }
})
