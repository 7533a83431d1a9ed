/** The watcher as a real process: what it takes, what it survives, how it ends. */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { image } from '../support/png.js'
import type { Loose, Ran } from '../world/place.js'
import { World, type ImageWorld } from '../world/world.js'
import { patienceMs, timeOf } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'

/** A watcher under way: its lines as they come. */
const watching = async (world: ImageWorld) => {
  const lines: Loose[] = []
  let child: ChildProcess | null = null
  let rest = ''
  const ended: Promise<Ran> = world.place.spawn(['shots', 'watch', '--json'], {
    onChild: (one) => {
      child = one
      one.stdout?.on('data', (data: Buffer) => {
        const parts = (rest + data.toString('utf8')).split('\n')
        rest = parts.pop() ?? ''
        lines.push(...parts.map((line) => JSON.parse(line)))
      })
    },
  })
  const until = async (found: () => boolean, what: string): Promise<number> => {
    const begin = performance.now()
    while (!found()) {
      if (performance.now() - begin > patienceMs()) throw new Error(`never came: ${what}`)
      await sleep(10)
    }
    return performance.now() - begin
  }
  const ingested = (): number =>
    lines.reduce((sum, line) => sum + (line.receipt?.ingested ?? 0), 0)
  await until(() => lines.some(({ event }) => event === 'watching'), 'ready')
  return {
    lines, ingested, until,
    takes: (count: number) => until(() => ingested() >= count, `image ${count}`),
    stop: async (signal: NodeJS.Signals): Promise<Ran> => {
      child?.kill(signal)
      return ended
    },
  }
}

t.test('S-001 a finished file is taken soon after it is there, and SIGINT ends the watcher with status 0', async (t) => {
  const world = await World.in(t).state().session().images()
  world.file('before.png', image(0))
  const watch = await watching(world)
  await watch.takes(1)
  const took: number[] = []
  for (let i = 1; i <= 3; i += 1) {
    writeFileSync(join(world.folder, `${i}.png`), image(i))
    took.push(await watch.takes(1 + i))
  }
  t.comment(`taken after ${took.map((ms) => Math.round(ms)).join(', ')} ms`)
  t.ok(Math.min(...took) < timeOf(100), 'far below the minute of a tick without a notice')
  const half = image(9)
  for (let bytes = 55; bytes <= 60; bytes += 1) {
    writeFileSync(join(world.folder, 'slow.png'), half.subarray(0, bytes))
    await sleep(100)
  }
  t.equal(watch.ingested(), 4, 'not while it is being written')
  writeFileSync(join(world.folder, 'slow.png'), half)
  await watch.takes(5)
  const ran = await watch.stop('SIGINT')
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stdout.trimEnd().split('\n').at(-1), /"event":"stopped"/)
  t.equal(world.rows().length, 5)
})

t.test('S-001 the folder may be removed, made again and renamed: what is there is taken, and SIGTERM ends it', async (t) => {
  const world = await World.in(t).state().session().images()
  const watch = await watching(world)
  rmSync(world.folder, { recursive: true })
  await watch.until(() => watch.lines.some(({ event }) => event === 'trouble'), 'trouble')
  mkdirSync(world.folder)
  writeFileSync(join(world.folder, 'again.png'), image(1))
  await watch.takes(1)
  renameSync(world.folder, `${world.folder}-old`)
  mkdirSync(world.folder)
  writeFileSync(join(world.folder, 'other.png'), image(2))
  await watch.takes(2)
  rmSync(world.folder, { recursive: true })
  renameSync(`${world.folder}-old`, world.folder)
  writeFileSync(join(world.folder, 'third.png'), image(3))
  await watch.takes(3)
  t.equal((await watch.stop('SIGTERM')).status, 0)
  t.strictSame(world.rows().map(({ paths }) => paths[0]?.name.text).sort(),
    ['again.png', 'other.png', 'third.png'])
})

/** Bytes that are no UTF-8; the disk of a Mac takes none such. */
const noText = process.platform === 'darwin' ? Buffer.from('\u00e9') : Buffer.from([0xff, 0xe9])

t.test('S-001 with recursion new folders are followed too, and names that are not UTF-8 are taken', async (t) => {
  const world = await World.in(t).state().session().images()
  await world.run(['shots', 'config', 'set', '--recursive', 'on'])
  const watch = await watching(world)
  mkdirSync(join(world.folder, 'sub'))
  writeFileSync(join(world.folder, 'sub/a.png'), image(1))
  await watch.takes(1)
  writeFileSync(join(world.folder, 'sub/b.png'), image(2))
  await watch.takes(2)
  const name = Buffer.concat([Buffer.from(`${world.folder}/`), noText, Buffer.from('.png')])
  writeFileSync(name, image(3))
  await watch.takes(3)
  rmSync(join(world.folder, 'sub'), { recursive: true })
  mkdirSync(join(world.folder, 'sub'))
  writeFileSync(join(world.folder, 'sub/c.png'), image(4))
  await watch.takes(4)
  const deep = Buffer.concat([Buffer.from(`${world.folder}/sub/`), noText])
  mkdirSync(deep)
  await sleep(500)
  writeFileSync(Buffer.concat([deep, Buffer.from('/d.png')]), image(5))
  await watch.takes(5)
  t.equal((await watch.stop('SIGINT')).status, 0)
})

t.test('S-057 a watcher does not begin over a folder that is not there or too broad', async (t) => {
  const world = await World.in(t).state().session().images()
  const at = (folder: string) =>
    world.run(['shots', 'watch', '--json'], { env: { SVC_SCREENSHOT_FOLDER: folder } })
  t.equal((await at(world.place.path('nowhere'))).error().code, 'folder_missing')
  const broad = await at('/')
  t.equal(broad.status, 3)
  t.equal(broad.error().code, 'broad_root')
})
