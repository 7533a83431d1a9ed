/** Walks every command of the program: what holds for one holds for all. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { safeParse } from 'valibot'
import { exitStatus } from '../../src/base/outcome.js'
import { completionScript, shells } from '../../src/cli/completion/scripts.js'
import { describingDeps } from '../../src/cli/describing.js'
import { generatedFiles } from '../../src/cli/generate.js'
import { globalFlags } from '../../src/cli/globals.js'
import { topicNames, topicText } from '../../src/cli/help/topics.js'
import { describeNouns } from '../../src/cli/tree.js'
import { allVerbs } from '../world/program.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const verbs = await allVerbs()
const nouns = describeNouns(describingDeps())
const pages = await generatedFiles(describingDeps())

t.test('each verb has a summary, a description, examples, statuses and a shape', async (t) => {
  for (const { noun, verb, meta } of verbs) {
    t.equal(meta.name, noun === null ? verb : `${noun} ${verb}`, meta.name)
    t.match(meta.summary, /^[^A-Z].{5,78}[^.]$/, `${meta.name}: one line, lowercase, no full stop`)
    t.match(meta.description, /^[A-Z`][\s\S]{20,}/, `${meta.name}: sentences`)
    t.ok(meta.examples.length > 0, `${meta.name}: an example`)
    for (const line of meta.examples) t.match(line, /^\$ .*sallyport /, `${meta.name}: ${line}`)
    t.ok(meta.examples.some((line) => line.includes(meta.name)), `${meta.name}: names itself`)
    for (const name of meta.exits) t.ok(name in exitStatus, `${meta.name}: ${name}`)
    const exits = meta.exits as readonly string[]
    if (meta.session === 'required') t.ok(exits.includes('unauthorized'), meta.name)
    if (meta.json !== null) {
      t.ok(meta.json.version >= 1, `${meta.name}: version`)
      const given = safeParse(meta.json.output, Symbol('no JSON'))
      t.notOk(given.success, `${meta.name}: a real shape`)
    }
  }
})

t.test('names are unique and lowercase; flags are described and never global', async (t) => {
  const names = verbs.map(({ meta }) => meta.name)
  t.strictSame([...new Set(names)], names)
  const reserved = [...globalFlags.map(({ long }) => long), '--version']
  for (const { meta, flags } of verbs) {
    t.match(meta.name, /^[a-z-]+( [a-z-]+){0,2}$/)
    for (const flag of flags) {
      t.match(flag.long, /^--[a-z][a-z0-9-]*$/, `${meta.name} ${flag.long}`)
      t.ok(flag.text.length > 3, `${meta.name} ${flag.long} is described`)
      t.notOk(reserved.includes(flag.long), `${meta.name} ${flag.long} is its own`)
    }
  }
})

t.test('no flag takes a secret, an endpoint, a proxy or a trust root', async (t) => {
  const words = 'password|passphrase|secret|token|key|url|host|base|endpoint|proxy|ca|cert|tls'
  const refused = new RegExp(`^--(?!idempotency-)(.*-)?(${words}|insecure)$`)
  // A branch: an address is refused as no name of one, before anybody is asked. A file that holds
  // a public key: one that holds a private half is refused.
  // Certificates that the server of a shared state is verified by, in the place of all others: it
  // holds sealed records, and is none of those whom a question or a key is sent to.
  const harmless = new Set([
    'codehost prepare --base', 'codehost publish --base', 'receipt verify --key',
    'init --server-ca', 'state share --server-ca',
  ])
  for (const { meta, flags } of verbs) {
    for (const { long, value } of flags) {
      if (value === null || harmless.has(`${meta.name} ${long}`)) continue
      t.notMatch(long, refused, `${meta.name} ${long}`)
    }
  }
})

t.test('--help of each verb ends with 0, shows all of it, and fits in 100 columns', async (t) => {
  const place = World.in(t).place
  for (const { meta, usage } of verbs) {
    const { status, stdout, stderr } = await place.run([...meta.name.split(' '), '--help'])
    t.strictSame([status, stderr], [0, ''], meta.name)
    // A shell reads on behind the mark, so an example can be copied from two lines.
    const whole = stdout.replace(/ \\\n +/g, ' ')
    for (const part of [usage, 'Examples:', 'Exit status:', 'Session: ', ...meta.examples]) {
      t.ok(whole.includes(part), `${meta.name}: ${part}`)
    }
    const long = stdout.split('\n').filter((line) => line.length > 100)
    t.strictSame(long, [], meta.name)
    t.equal((await place.run(['help', ...meta.name.split(' ')])).stdout, stdout, 'as help NAME')
  }
})

t.test('the overview lists every noun, verb and topic', async (t) => {
  const { stdout } = await World.in(t).place.run(['--help'])
  for (const { noun } of nouns) t.match(stdout, `  ${noun} `)
  for (const { verb } of verbs) t.match(stdout, verb)
  for (const name of topicNames) t.match(stdout, name)
  t.equal((await World.in(t).place.run([])).stdout, stdout)
  t.equal((await World.in(t).place.run(['help'])).stdout, stdout)
})

t.test('the help of a noun lists its verbs, and without a verb it is misuse', async (t) => {
  const place = World.in(t).place
  for (const { noun } of nouns) {
    const { stdout } = await place.run([...noun.split(' '), '--help'])
    for (const verb of verbs.filter((one) => one.noun === noun)) {
      t.match(stdout, verb.meta.summary, verb.meta.name)
    }
    t.equal((await place.run(noun.split(' '))).status, exitStatus.usage, noun)
    t.equal((await place.run(['help', ...noun.split(' ')])).stdout, stdout)
  }
})

t.test('an unknown flag is refused by each verb before anything is opened', async (t) => {
  const place = World.in(t).place
  for (const { meta } of verbs) {
    const ran = await place.run([...meta.name.split(' '), '--no-such-flag', '--json'])
    t.strictSame([ran.status, ran.stdout], [exitStatus.usage, ''], meta.name)
  }
})

t.test('each topic is a page that fits in 80 columns as it was written', async (t) => {
  const place = World.in(t).place
  for (const name of topicNames) {
    const { status, stdout } = await place.run(['help', name])
    t.strictSame([status, stdout], [0, topicText(name)], name)
    // Rows of two columns go on below their second; whatever else is longer would be ragged.
    const long = stdout.split('\n')
      .filter((line) => line.length > 80 && !/^ {2}\S+ {2,}\S/.test(line))
    t.strictSame(long, [], name)
  }
  t.equal((await place.run(['help', 'no-such-topic'])).status, exitStatus.not_found)
  t.equal(topicText('toString'), null)
})

t.test('every verb and flag is in every completion script and man page', async (t) => {
  for (const shell of shells) {
    const script = completionScript(shell, verbs, nouns)
    t.equal((await World.in(t).place.run(['completion', shell])).stdout, script)
    for (const { meta, verb, flags } of verbs) {
      t.ok(script.includes(verb), `${shell}: ${meta.name}`)
      for (const { long } of flags) {
        const word = shell === 'fish' ? `-l ${long.slice(2)}` : long
        t.ok(script.includes(word), `${shell}: ${meta.name} ${long}`)
      }
    }
  }
  for (const { noun, meta, flags } of verbs) {
    const of = noun === null ? '' : `-${noun.replace(' ', '-')}`
    const page = pages.get(`man/sallyport${of}.1`) ?? ''
    t.match(page, `.SH ${meta.name.toUpperCase()}`, meta.name)
    const synopsis = page.split('.SH SYNOPSIS')[1]?.split('.SH ')[0] ?? ''
    const words = noun === null ? 'COMMAND' : `sallyport ${meta.name}`
    t.ok(synopsis.includes(words.replaceAll('-', '\\-')), `${meta.name} in the synopsis`)
    for (const { long } of flags) {
      t.ok(page.includes(long.replaceAll('-', '\\-')), `${meta.name} ${long}`)
    }
  }
  t.equal((await World.in(t).place.run(['completion', 'tcsh'])).status, exitStatus.rejected)
})

t.test('man pages have no line that roff would take for an unknown request', async (t) => {
  const requests = new Set(['TH', 'SH', 'TP', 'PP', 'nf', 'fi', 'BR'])
  for (const [path, page] of pages) {
    if (!path.startsWith('man/')) continue
    const unknown = page.split('\n').filter((line) => {
      const [, request] = /^[.'](\w+)/.exec(line) ?? []
      return request !== undefined && !requests.has(request)
    })
    t.strictSame(unknown, [], path)
    t.match(page, /^\.TH SALLYPORT/)
  }
})

t.test('the bash script is valid and completes nouns, verbs, flags and topics', async (t) => {
  const script = completionScript('bash', verbs, nouns)
  const complete = (...words: string[]): string[] => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const { stdout, stderr, error } = spawnSync('bash', ['--norc', '-c', `${script}
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _sallyport; echo "\${COMPREPLY[@]}"`])
    if (error !== undefined) throw error
    t.equal(String(stderr), '')
    return String(stdout).trim().split(' ')
  }
  t.strictSame(complete('sallyport', 'stat').includes('state'), true)
  t.strictSame(complete('sallyport', 'state', 'pa'), ['path'])
  t.strictSame(complete('sallyport', '--json', 'state', 'pa'), ['path'])
  t.strictSame(complete('sallyport', '--wait', '3', 'state', 'pa'), ['path'])
  t.strictSame(complete('sallyport', 'state', 'path', '--js'), ['--json'])
  t.strictSame(complete('sallyport', 'help', 'mon'), ['money'])
  t.strictSame(complete('sallyport', 'completion', 'z'), ['zsh'])
  t.strictSame(complete('sallyport', 'gateway', 'prove', 'scr'), ['screenshot'])
  t.strictSame(complete('sallyport', 'gateway', 'setup', '--consent', 'gateway.v'),
    ['gateway.vision'])
  t.strictSame(complete('sallyport', 'sandbox', 'fault', 'set', 'billing_overr'),
    ['billing_overrun'])
  t.strictSame(complete('sallyport', 'codehost', 'consent', 'ID', '--action', 'git.r'),
    ['git.ref.create'])
  t.strictSame(complete('sallyport', 'codehost', 'approve', '--action', ''),
    ['issue.create', 'comment.create'])
  t.strictSame(complete('sallyport', 'codehost', 'prepare', 'pu'), ['publication'])
  t.strictSame(complete('sallyport', 'codehost', 'mode', 'ID', 'rec'), ['reconcile_only'])
  t.strictSame(complete('sallyport', 'codehost', 'rec'), ['recover'])
  t.strictSame(complete('sallyport', 'codehost', 'recover', 'rec'), ['reconcile'])
  t.strictSame(complete('sallyport', 'codehost', 'recover', 'inspect', '--fr'), ['--from'])
  t.strictSame(complete('sallyport', 'help', 'codehost', 'recover', 'ad'), ['adopt'])
  t.strictSame(complete('sallyport', 'shots', 'setup', '--unset', 'screenshot_f'),
    ['screenshot_folder'])
})

t.test('A-006 no help text, topic, man page or completion claims attestation, trusted '
  + 'execution or end-to-end encryption', async (t) => {
  const isSchema = (path: string): boolean => path.startsWith('docs/schemas/')
  const texts = [...pages].flatMap(([path, text]) => (isSchema(path) ? [] : [text]))
  texts.push(...verbs.map(({ help }) => help))
  texts.push(...topicNames.map((name) => topicText(name) ?? ''))
  const claim = /attest|trusted execution|enclave|\btee\b|end.to.end|e2ee|confidential/i
  // None of them has a word of it, not even to deny it.
  for (const text of texts) t.notMatch(text.replace(/\s+/g, ' '), claim)
  // A schema has names alone: those of such claims can only ever be false.
  for (const [path, text] of pages) {
    if (!isSchema(path)) continue
    const plain = text.replace(/"(tee_verified|e2ee)": \{\s*"const": false\s*\}/g, '')
    t.notMatch(plain.replace(/"(tee_verified|e2ee)",/g, ''), claim, path)
  }
})

t.test('the changelog keeps one file per change, each one line of a known kind', async (t) => {
  const { readdirSync } = await import('node:fs')
  const names = readdirSync('changelog/unreleased')
  t.ok(names.length > 0)
  for (const name of names) {
    const text = readFileSync(`changelog/unreleased/${name}`, 'utf8')
    t.match(text, /^(Added|Changed|Fixed|Removed): .{10,}\n$/, name)
  }
})
