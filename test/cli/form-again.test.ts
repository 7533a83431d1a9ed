/** What a No at the end of a form leaves: the answers, under Enter, and the way out. */
import { fail } from '../../src/base/errors.js'
import { untilAgreed } from '../../src/cli/form-again.js'
import type { Prompter } from '../../src/cli/prompt.js'
import { t } from '../support/tests-in-slices.js'

const declined = () => fail.cancelled('declined', 'Declined; nothing was changed.')

/** A person who types what is given in turn and presses Enter from then on, with what they saw. */
const personOf = (...typed: readonly string[]) => {
  const [left, seen]: [string[], string[]] = [[...typed], []]
  const answer = async (
    message: string, initial = '', problem?: Parameters<Prompter['text']>[2],
  ): Promise<string> => {
    seen.push(initial === '' ? message : `${message} [${initial}]`)
    const text = left.shift() || initial
    const wrong = await problem?.(text)
    if (typeof wrong === 'string') throw new Error(wrong)
    return text
  }
  const prompter: Prompter = {
    text: answer, secret: (message, problem) => answer(message, '', problem),
    choose: (message, _, initial) => answer(message, initial),
    confirm: async (message) => await answer(message) === 'y', pick: async () => [],
  }
  return { prompter, seen }
}

const form = async (asked: Prompter): Promise<readonly string[]> => {
  const filled = [
    await asked.choose('Slot:', ['none', 'chat'], 'none'), await asked.text('Name:'),
    await asked.text('Name:'), await asked.text('Wait: (Enter: keep 3 s)', '3'),
    await asked.secret('Key (Enter keeps the stored one):',
      (text) => (text === '' ? 'A key is needed.' : null)),
  ]
  if (!(await asked.confirm('Save'))) throw declined()
  return filled
}

t.test('after a No each question has its own answer under Enter, and only the yes is asked for as before', async (t) => {
  const { prompter, seen } = personOf('chat', 'one', 'two', '5', 'secret')
  const filled = untilAgreed({ ...prompter, confirm: async (message) => {
    seen.push(message)
    return seen.filter((one) => one === message).length === 2
  } }, form)
  t.strictSame(await filled, ['chat', 'one', 'two', '5', 'secret'])
  t.strictSame(seen, [
    'Slot: [none]', 'Name:', 'Name:', 'Wait: (Enter: keep 3 s) [3]',
    'Key (Enter keeps the stored one):', 'Save', 'Nothing was changed. [change an answer]',
    'Slot: [chat]', 'Name: [one]', 'Name: [two]', 'Wait: [5]',
    'Key (Enter keeps what you typed; a space clears it):', 'Save',
  ])
})

t.test('who changes nothing on the way back is led out by Enter, and the No is what is told', async (t) => {
  const { prompter, seen } = personOf('chat', 'one', 'two', '5', 'secret')
  await t.rejects(untilAgreed(prompter, form), { kind: 'cancelled', code: 'declined' })
  t.equal(seen.at(-1), 'Nothing was changed. [leave without saving]')
  const changed = personOf('', 'one', 'two', '', 'secret', 'n', '', '', 'three')
  await t.rejects(untilAgreed(changed.prompter, form), { code: 'declined' })
  t.equal(changed.seen.filter((one) => one.endsWith('[change an answer]')).length, 2)
})

t.test('an answer that is offered no more is no answer, and what was left empty is asked as before', async (t) => {
  const { prompter, seen } = personOf('chat', '', '', 'y')
  let round = 0
  await untilAgreed(prompter, async (asked) => {
    round += 1
    await asked.choose('Slot:', round === 1 ? ['none', 'chat'] : ['none'], 'none')
    await asked.text('Name: (Enter: none)')
    if (round === 1) throw declined()
  })
  t.strictSame(seen.slice(3), ['Slot: [none]', 'Name: (Enter: none)'])
})

t.test('where nothing was answered but yes or no, or something else went wrong, nobody is asked', async (t) => {
  const { prompter, seen } = personOf()
  await t.rejects(untilAgreed(prompter, async (asked) => {
    if (!(await asked.confirm('Save'))) throw declined()
  }), { code: 'declined' })
  await t.rejects(untilAgreed(prompter, async (asked) => {
    await asked.text('Name:')
    throw fail.rejected('form_number', 'No number.')
  }), { code: 'form_number' })
  t.strictSame(seen, ['Save', 'Name:'])
})

t.test('a secret that was typed before is taken by Enter, and let go by a blank', async (t) => {
  const optional = async (asked: Prompter): Promise<string> => {
    const key = await asked.secret('Key (Enter keeps the stored one):')
    if (!(await asked.confirm('Save'))) throw declined()
    return key
  }
  for (const [typed, key] of [['', 'wrong'], [' ', '']] as const) {
    const { prompter } = personOf('wrong', 'n', '', typed, 'y')
    t.equal(await untilAgreed(prompter, optional), key)
  }
})
