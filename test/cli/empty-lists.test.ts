/** A list without a row: a person is told so, a pipe gets no line. */
import t from 'tap'
import { must } from '../support/must.js'
import { World } from '../world/world.js'

t.test('a list without a row says so on a terminal alone, beside the result', async (t) => {
  const at = await World.still(t).state().session()
  const lists = [
    ['codehost connections', /^No connection yet: sallyport codehost connect\n$/],
    ['codehost connections --grants', /^No connection yet/],
    ['task list', /^There is nothing to list\.\n$/],
    ['alpha tasks', /^There is nothing to list\.\n$/],
  ] as const
  for (const [list, note] of lists) {
    const words = list.split(' ')
    const shown = must(await at.run(words, { terminal: { stdin: false, stdout: true } }))
    t.equal(shown.stdout, '', list)
    t.match(shown.stderr.replaceAll('`', ''), note, list)
    const quiet = await at.run([...words, '--quiet'], { terminal: { stdin: false, stdout: true } })
    t.equal(quiet.stderr, '', `${list} --quiet`)
    const piped = must(await at.run(words))
    t.strictSame([piped.stdout, piped.stderr], ['', ''], list)
    const json = must(await at.run([...words, '--json']))
    t.strictSame([json.json(), json.stderr], [[], ''], list)
  }
})
