/** A receipt is checked by what shares no code with the program: the page says how. */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { must } from '../../support/must.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const lacks = (program: string, args: readonly string[]) => ({
  skip: spawnSync(program, args).error === undefined ? false : `needs the program ${program}`,
})

/** The block of the page that holds a text. */
const blockWith = (text: string): string => {
  const page = readFileSync('docs/dev/receipts.md', 'utf8')
  return page.match(/^```\w+\n[^`]*?^```$/gms)?.find((block) => block.includes(text))
    ?.split('\n').slice(1, -1).join('\n') ?? ''
}

/** A receipt and its key in the files that the page names, and a way to change one byte. */
const receiptIn = async (t: Test): Promise<{ dir: string; alter: () => void }> => {
  const at = await World.in(t).sandbox().state().session().alpha()
  const { task } = must(await at.ask()).json()
  const receipt = at.place.write(
    'receipt.json', must(await at.run(['receipt', 'export', task.id])).bytes)
  at.place.write('sallyport.pem', must(await at.run(['receipt', 'key'])).bytes)
  return {
    dir: at.place.path('.'),
    alter: () => {
      const whole = readFileSync(receipt, 'utf8')
      const at = whole.indexOf('"payload": "') + 20
      const other = whole[at] === 'A' ? 'B' : 'A'
      writeFileSync(receipt, `${whole.slice(0, at)}${other}${whole.slice(at + 1)}`)
    },
  }
}

t.test('openssl checks a receipt as the page says, and refuses one changed byte', lacks('openssl', ['version']), async (t) => {
  const { dir, alter } = await receiptIn(t)
  const block = blockWith('openssl pkeyutl')
  const check = () => spawnSync('sh', ['-ec', block], { cwd: dir, encoding: 'utf8' })
  const good = check()
  t.equal(good.status, 0, good.stderr)
  t.match(good.stdout, /Verified Successfully/)
  alter()
  t.not(check().status, 0)
})

t.test('thirty lines of Python check a receipt as the page says, and refuse one changed byte', lacks('python3', ['--version']), async (t) => {
  const { dir, alter } = await receiptIn(t)
  const program = blockWith('hashlib')
  t.ok(program.split('\n').length <= 37, `${program.split('\n').length} lines`)
  const check = () => spawnSync(
    'python3', ['-', 'receipt.json', 'sallyport.pem'],
    { cwd: dir, encoding: 'utf8', input: program })
  const good = check()
  t.equal(good.status, 0, good.stderr)
  t.hasStrict(JSON.parse(good.stdout), { predicate: { what: 'ask' } })
  alter()
  const bad = check()
  t.equal(bad.status, 1)
  t.equal(bad.stdout, 'NOT signed with this key\n')
})
