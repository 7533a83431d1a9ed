// A copy of the project in which every change stands behind a switch: it is built once, and a file
// beside it says which change is made, so that whatever a test starts reads the same.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { weave } from './switches.js'

/** Where the tests of a compiled tree have tap from. */
const tapFile = '.build/tree/node_modules/@tapjs/in-one/shared.js'

/** The switch, as it stands in a copy. Who can read no file runs what is unbroken. */
const switchOf = (place, titlePlace) => `import { appendFileSync, readFileSync } from 'node:fs'

const read = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
const [how, what = ''] = read(${JSON.stringify(place)}).split(' ')
const broken = how === 'break' ? Number(what) : -1
const seen = new Set<string>()
const note = (id: number): void => {
  const line = JSON.stringify([id, read(${JSON.stringify(titlePlace)})])
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
  if (how === 'note') note(id)
  return id === broken
}
`

/** What tells the switch the title of the test that runs; it stands behind tap in the copy. */
const titlesOf = (place, titlePlace) => `
import { readFileSync as readText, writeFileSync as writeText } from 'node:fs'
if (readText(${JSON.stringify(place)}, 'utf8').startsWith('note ')) {
  const { test } = real
  real.test = (title, ...rest) => {
    const act = rest.pop()
    return test.call(real, title, ...rest, (t) => {
      writeText(${JSON.stringify(titlePlace)}, title)
      return act(t)
    })
  }
}
`

/**
 * Puts changes into a copy of the project, and builds it.
 * @param {{ dir: string, build(): Promise<readonly string[]>, read(file: string): string,
 *   write(file: string, text: string): void }} copy
 * @param {readonly { id: number, file: string, from: number, to: number, text: string,
 *   whole?: boolean }[]} changes
 * @returns {Promise<{ outside: ReadonlySet<number>, none(): void, only(id: number): void,
 *   noting(): () => ReadonlyMap<string, readonly number[]> }>} `outside` are changes that no switch
 *   can make; `only` makes one; `noting` makes none, and what it gives answers which were come by
 *   since, by the title of the test of a file, empty before the first
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
    const [id, title] = JSON.parse(line)
    const ids = found.get(title) ?? []
    if (!ids.includes(id)) found.set(title, [...ids, id])
  }
  return found
}
