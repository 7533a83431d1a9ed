// A copy of the project in which every change stands behind a switch: it is built once, and a file
// beside it says which change is made, so that whatever a test starts reads the same.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { weave } from './switches.js'

/** Where the tests of a compiled tree have tap from. */
const tapFile = '.build/tree/node_modules/@tapjs/in-one/shared.js'

/** Where a test process keeps which change its turn makes; beside it only a file can say so. */
const turn = 'Symbol.for(\'sallyport broken\')'

/** Where it keeps the title of the test that runs. */
const titleOf = 'Symbol.for(\'sallyport title\')'

/** The switch, as it stands in a copy. Who can read no file runs what is unbroken. */
const switchOf = (place, titlePlace) => `import { appendFileSync, readFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const told = (): readonly string[] => read(${JSON.stringify(place)}).split(' ')
const [how, what = ''] = told()
const broken = how === 'break' ? Number(what) : -1
const turns = globalThis as unknown as Record<symbol, number | undefined>
const now = (): number => {
  if (isMainThread) return turns[${turn}] ?? broken
  // A thread may live through several turns of its process.
  const [how, what] = told()
  return how === 'break' ? Number(what) : -1
}
const seen = new Set<string>()
let begun: string | null = null
const title = (): string => {
  const own = (globalThis as unknown as Record<symbol, string | undefined>)[${titleOf}]
  // What a test starts is of that test.
  return own ?? (begun ??= read(${JSON.stringify(titlePlace)}))
}
const note = (id: number, refused: boolean): void => {
  const line = JSON.stringify([id, title(), refused])
  if (seen.has(line)) return
  seen.add(line)
  try {
    appendFileSync(what, \`\${line}\\n\`)
  } catch {
    // Where nothing may be written, nothing is noted.
  }
}

/** Whether the change of this number is made. */
export const $broken = (id: number): boolean => {
  if (how === 'note') note(id, false)
  return id === now()
}

/** Notes that the guard of this number, being there, has refused. */
$broken.refused = (id: number): void => {
  if (how === 'note') note(id, true)
}

/** Gives what the condition of this number is, or what it is asked by; notes where it is false. */
$broken.judged = <T>(id: number, value: T): T => {
  if (how !== 'note') return value
  if (typeof value !== 'function') {
    if (value === false) note(id, true)
    return value
  }
  const asked = value as unknown as (...facts: readonly unknown[]) => unknown
  return ((...facts: readonly unknown[]) => $broken.judged(id, asked(...facts))) as unknown as T
}
`

/**
 * What stands behind tap in the copy: it tells the switch the title of the test that runs, or runs
 * tests of a file in turns: each once for every change that is named for it, and once with none.
 * What failed without a change is not tried again in this process.
 */
const titlesOf = (place, titlePlace) => `
import { readFileSync as readText, writeFileSync as writeText } from 'node:fs'
const [how, what] = readText(${JSON.stringify(place)}, 'utf8').split(' ')
const { test } = real
if (how === 'note') {
  globalThis[${titleOf}] = ''
  real.test = (title, ...rest) => {
    const act = rest.pop()
    return test.call(real, title, ...rest, (t) => {
      globalThis[${titleOf}] = title
      writeText(${JSON.stringify(titlePlace)}, title)
      return act(t)
    })
  }
}
if (how === 'turns') {
  const turns = JSON.parse(readText(what, 'utf8'))
  const failed = new Set()
  const set = (id) => {
    globalThis[${turn}] = id
    writeText(${JSON.stringify(place)}, id < 0 ? '' : \`break \${id}\`)
  }
  set(-1)
  real.test = (title, ...rest) => {
    if (turns[title] === undefined) return Promise.resolve()
    const act = rest.pop()
    const ran = [...turns[title], -1].map((id) => test.call(real, title, ...rest, async (t) => {
      if (failed.has(id)) return t.pass('failed before')
      set(id)
      try {
        return await act(t)
      } catch (error) {
        failed.add(id)
        throw error
      } finally {
        if (!t.passing()) failed.add(id)
      }
    }))
    return ran.at(-1)
  }
}
`

/**
 * Puts changes into a copy of the project, and builds it.
 * @param {{ dir: string, build(): Promise<readonly string[]>, read(file: string): string,
 *   write(file: string, text: string): void }} copy
 * @param {readonly { id: number, file: string, from: number, to: number, text: string,
 *   whole?: boolean, told?: boolean }[]} changes with `told` it is noted where what stood there
 *   refused
 * @returns {Promise<{ outside: ReadonlySet<number>, none(): void, only(id: number): void,
 *   turns(turns: Record<string, readonly number[]>): void,
 *   noting(): () => ReadonlyMap<string, { reached: readonly number[],
 *   refused: readonly number[] }> }>} `outside` are changes that no switch can make; `only` makes
 *   one; `turns` makes those that it names for the title of a test, one after the other; `noting`
 *   makes none, and what it gives answers which were come by since, and which of them refused, by
 *   the title of the test of a file, empty before the first
 */
export const weaveCopy = async (copy, changes) => {
  const place = join(copy.dir, '.build/broken')
  const notes = join(copy.dir, '.build/come-by')
  const outside = []
  for (const file of new Set(changes.map((one) => one.file))) {
    const ones = changes.filter((one) => one.file === file)
    const module = relative(dirname(file), 'src/base/broken.js')
    const { text, outside: left } = weave(
      file, copy.read(file), ones, module.startsWith('.') ? module : `./${module}`,
    )
    outside.push(...left)
    copy.write(file, text)
  }
  const titlePlace = join(copy.dir, '.build/title')
  copy.write('src/base/broken.ts', switchOf(place, titlePlace))
  const problems = await copy.build()
  if (problems.length > 0) throw new Error(`the copy does not compile: ${problems[0]}`)
  const set = (text) => {
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, text)
  }
  set('')
  appendFileSync(join(copy.dir, tapFile), titlesOf(place, titlePlace))
  return {
    outside: new Set(outside),
    none: () => set(''),
    only: (id) => set(`break ${id}`),
    turns: (turns) => {
      const path = join(copy.dir, '.build/turns')
      writeFileSync(path, JSON.stringify(turns))
      set(`turns ${path}`)
    },
    noting: () => {
      writeFileSync(notes, '')
      rmSync(titlePlace, { force: true })
      set(`note ${notes}`)
      return () => notesIn(readFileSync(notes, 'utf8'))
    },
  }
}

const notesIn = (text) => {
  const found = new Map()
  for (const line of text.split('\n').slice(0, -1)) {
    const [id, title, isRefusal] = JSON.parse(line)
    const of = found.get(title) ?? { reached: new Set(), refused: new Set() }
    of[isRefusal ? 'refused' : 'reached'].add(id)
    found.set(title, of)
  }
  return new Map([...found].map(([title, { reached, refused }]) =>
    [title, { reached: [...reached], refused: [...refused] }]))
}
