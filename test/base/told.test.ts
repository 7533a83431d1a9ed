/** Commands as they are told: with what a line carries, on one line, as a shell reads them. */
import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import * as v from 'valibot'
import { text } from '../../src/base/schema.js'
import { toldDocument } from '../../src/base/told-document.js'
import {
  command, commandLine, lineOfWords, nullableSentence, sentence, shellWord, toldCommand, toldSteps,
  toldText,
} from '../../src/base/told.js'
import { t } from '../support/tests-in-slices.js'

const carried = ['--state-dir', '/a b']
const suffix = ` --state-dir '/a b'`

t.test('a shell reads a word as it was meant, and no word leaves its line or its backticks', (t) => {
  const word = fc.string({ minLength: 1, unit: fc.constantFrom(
    'a', '-', '=', ' ', '\n', '\u001b', '\'', '"', '\\', '$', '`', '%', '~', 'é', '\u2028') })
  fc.assert(fc.property(fc.array(word, { maxLength: 3 }), (words) => {
    const line = lineOfWords(words)
    const typed = ['-c', `printf '%s\\0' x ${line}`]
    const { stdout } = spawnSync('/bin/sh', typed, { encoding: 'utf8' })
    t.strictSame(stdout.split('\0').slice(1, -1), words)
    const isOneLine = !/[\n`\u001b\u2028]/.test(line)
    t.ok(isOneLine || words.some((one) => one.endsWith('\n')))
  }), { numRuns: 60 })
  t.strictSame(['', '=x', '~', 'a=b', '--x', '/a b'].map(shellWord),
    ["''", "'=x'", "'~'", 'a=b', '--x', "'/a b'"])
  t.end()
})

t.test('a command carries what its line had, once; one that needs no state carries nothing', (t) => {
  const told = (line: string) => toldCommand(commandLine(line), carried)
  t.equal(told('ledger show'), `sallyport ledger show${suffix}`)
  t.equal(toldCommand(told('ledger show'), carried), told('ledger show'))
  for (const line of ['help anchor', 'alpha setup --help', '--help', 'demo all', 'sandbox start']) {
    t.equal(told(line), `sallyport ${line}`)
  }
  for (const line of ['at list', 'at add NAME DIR', 'init --at trial', 'init --state-dir DIR']) {
    t.equal(told(line), `sallyport ${line}`, 'it says by itself what it is about')
  }
  for (const line of ['attach x', 'goal add --attic']) {
    t.equal(told(line), `sallyport ${line}${suffix}`)
  }
  const named = ['--at', 'work']
  t.equal(toldCommand('sallyport status', named), 'sallyport status --at work')
  t.equal(toldCommand('sallyport status --at work', named), 'sallyport status --at work')
  t.equal(told('helper'), `sallyport helper${suffix}`)
  t.equal(toldCommand('chmod 600 /x', carried), 'chmod 600 /x')
  t.equal(toldText('Run `sallyport status`, not `ls` or sallyport.', carried),
    `Run \`sallyport status${suffix}\`, not \`ls\` or sallyport.`)
  t.strictSame(toldSteps('Run `sallyport status`.', carried),
    [{ command: `sallyport status${suffix}`, needs_person: false }])
  t.end()
})

t.test('of a document what is ours is told, by its shape; what others wrote stays to the byte', (t) => {
  const hint = 'Run `sallyport status`.'
  const told = `Run \`sallyport status${suffix}\`.`
  const one = v.strictObject({ command, hint: v.optional(nullableSentence), answer: text })
  const shape = v.strictObject({
    rows: v.array(v.union([v.strictObject({ kind: v.literal('a'), said: sentence }), one])),
    named: v.record(v.string(), v.pipe(one, v.check(() => true))),
    foreign: text,
  })
  const made = { command: 'sallyport status', hint, answer: hint }
  const meant = { command: `sallyport status${suffix}`, hint: told, answer: hint }
  t.strictSame(toldDocument({
    rows: [{ kind: 'a' as const, said: hint }, made], named: { x: { ...made, hint: null } },
    foreign: 'sallyport status',
  }, shape, carried), {
    rows: [{ kind: 'a', said: told }, meant], named: { x: { ...meant, hint: null } },
    foreign: 'sallyport status',
  })
  const same = { rows: [], named: {}, foreign: hint }
  t.equal(toldDocument(same, shape, carried), same, 'what tells nothing is the very document')
  t.end()
})
