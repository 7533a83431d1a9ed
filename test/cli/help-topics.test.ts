/** What the help topics promise of keys and profiles is what the program does. */
import t from 'tap'
import { glossaryText, glossaryWords } from '../../src/cli/help/topics/glossary.js'
import { World } from '../world/world.js'
import { must } from '../support/must.js'

t.test('help real-key names the least token of the code host, its hosts, and what is out of reach', async (t) => {
  const { run, place } = await World.in(t)
  const { stdout } = must(await run(['help', 'real-key']))
  for (const word of [
    /fine-grained/, /only this one repository/, /Contents +read and write/,
    /Pull requests +read and write/, /Issues +read and write/, /Metadata +read:/,
    /Workflows +none/, /https:\/\/api\.NAME\.ghe\.com/, /server of your own is out of reach/,
  ]) t.match(stdout, word)
  const profile = (codehost: string, more: object = {}) => place.write('p.json', JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'own', codehost: { base_url: codehost },
    provider: { name: 'own', base_url: 'https://provider.example/v1', model_id: 'm' }, ...more,
  }))
  const init = (file: string) => run(['init', '--profile', file, '--json'])
  t.match((await init(profile('https://own.example/api/v3'))).stderr, /must have the path/)
  place.write('ca.pem', 'x')
  t.match((await init(profile('https://own.example', { ca_file: 'ca.pem' }))).stderr, /loopback/)
  must(await init(profile('https://api.octo.ghe.com')))
})

t.test('help profile names the code host of the built-in profile and of a file', async (t) => {
  const { stdout } = must(await World.in(t).then(({ run }) => run(['help', 'profile'])))
  t.match(stdout, /code host https:\/\/api\.github\.com/)
  t.match(stdout, /codehost\.base_url/)
})

t.test('help explains each word of the glossary, where it is no command or topic', async (t) => {
  const { place } = await World.in(t)
  const { stdout: all } = await place.run(['help', 'glossary'])
  const commands: string[] = []
  for (const word of glossaryWords) {
    const { status, stdout } = await place.run(['help', ...word.split(' ')])
    t.equal(status, 0, word)
    if (stdout !== glossaryText(word)) commands.push(word)
    t.ok(all.includes(glossaryText(word) ?? '?'), `${word} stands in the topic`)
  }
  t.strictSame(commands, [
    'anchor', 'audit', 'consent', 'gateway', 'goal', 'ledger', 'machine', 'policy', 'receipt',
    'sandbox', 'session', 'state', 'task',
  ])
  t.match((await place.run(['help', 'ceiling'])).stdout, /^ceiling\n {2}The most that a state/)
  t.match((await place.run(['help', 'cieling'])).stderr, 'sallyport help ceiling')
})
