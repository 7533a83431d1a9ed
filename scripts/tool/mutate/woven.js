// A copy of the project in which every change stands behind a switch: it is built once, and a file
// beside it says which change is made, so that whatever a test starts reads the same.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { weave } from './switches.js'

/** The switch, as it stands in a copy. Who can read no file runs what is unbroken. */
const switchOf = (place) => `import { appendFileSync, readFileSync } from 'node:fs'

const read = (): string => {
  try {
    return readFileSync(${JSON.stringify(place)}, 'utf8')
  } catch {
    return ''
  }
}
const [how, what = ''] = read().split(' ')
const broken = how === 'break' ? Number(what) : -1
const seen = new Set<number>()
const note = (id: number): void => {
  seen.add(id)
  try {
    appendFileSync(what, \`\${id}\\n\`)
  } catch {
    // Where nothing may be written, nothing is noted.
  }
}

/** Whether the change of this number is made. */
export const $broken = (id: number): boolean => {
  if (how === 'note' && !seen.has(id)) note(id)
  return id === broken
}
`

/**
 * Puts changes into a copy of the project, and builds it.
 * @param {{ dir: string, build(): Promise<readonly string[]>, read(file: string): string,
 *   write(file: string, text: string): void }} copy
 * @param {readonly { id: number, file: string, from: number, to: number, text: string,
 *   whole?: boolean }[]} changes
 * @returns {Promise<{ outside: ReadonlySet<number>, none(): void, only(id: number): void,
 *   noting(): () => readonly number[] }>} `outside` are changes that no switch can make; `only`
 *   makes one; `noting` makes none, and what it gives answers which were come by since
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
  copy.write('src/base/broken.ts', switchOf(place))
  const problems = await copy.build()
  if (problems.length > 0) throw new Error(`the copy does not compile: ${problems[0]}`)
  const set = (text) => {
    mkdirSync(dirname(place), { recursive: true })
    writeFileSync(place, text)
  }
  return {
    outside: new Set(outside),
    none: () => set(''),
    only: (id) => set(`break ${id}`),
    noting: () => {
      rmSync(notes, { force: true })
      writeFileSync(notes, '')
      set(`note ${notes}`)
      return () => [...new Set(readFileSync(notes, 'utf8').split('\n').slice(0, -1).map(Number))]
    },
  }
}
