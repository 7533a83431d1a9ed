/** The program as another version of it would be: what it says that it writes is another number. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const said = /\bwritesVersion = \d+/g

/** Folder of such a build, made of the text that coverage maps. */
export const builtToWrite = async (writes: number): Promise<string> => {
  const tool = join(process.cwd(), 'scripts/tool/app.js')
  const { freshApp } = (await import(tool)) as { freshApp(): Promise<string> }
  const from = await freshApp()
  const to = `${from}-writes-${writes}`
  rmSync(to, { recursive: true, force: true })
  cpSync(from, to, { recursive: true })
  let changed = 0
  for (const name of readdirSync(to).filter((one) => one.endsWith('.js'))) {
    const text = readFileSync(join(to, name), 'utf8')
    const other = text.replaceAll(said, `writesVersion = ${writes}`)
    if (other === text) continue
    changed += 1
    writeFileSync(join(to, name), other)
  }
  if (changed === 0) throw new Error('no file of the program says what it writes')
  return to
}
