/** Lines that are refused before anything is tried, each with the code that scripts match. */
import t from 'tap'
import { reanalyzeReasons } from '../../src/shots/constants.js'
import { World } from '../world/world.js'

const [reason] = reanalyzeReasons

/** Code by line; the words are split at blanks. */
const lines: Readonly<Record<string, string>> = {
  'help no-such-topic': 'no_such_topic',
  'completion tcsh': 'unknown_shell',
  'schema no such shape': 'schema_not_found',
  'alpha ask what-is-it': 'question_on_command_line',
  'alpha ask - --file a': 'several_sources',
  'alpha setup --enable --disable': 'contradicting_flags',
  'gateway setup': 'nothing_to_save',
  'gateway setup --model gateway/acme/chat-1': 'slot_flags',
  'ledger settle op_01890000-0000-7000-8000-000000000000': 'amount_required',
  'gateway prove': 'one_slot',
  'gateway prove other': 'slot_unknown',
  'shots config get': 'config_action',
  'shots config set': 'nothing_to_save',
  'shots config set --unset no_such_setting': 'flag_invalid',
  'shots config show --folder /tmp': 'show_flags',
  'shots digest --retry': 'window_needed',
  'shots report --retry': 'conclude_needed',
  [`shots reanalyze --blocked --failed --reason ${reason}`]: 'one_target',
  [`shots reanalyze a.png --reason ${reason} --reason ${reason}`]: 'reason_repeated',
  [`shots reanalyze a.png --reason ${reason} --limit 2`]: 'limit_in_bulk',
  'shots reanalyze a.png': 'reason_needed',
  'state prune --yes': 'age_required',
  'sandbox fault do': 'fault_action',
  'sandbox fault set': 'fault_name_missing',
  'sandbox fault clear gzip --times 2': 'fault_clear_flags',
}

t.test('each line that cannot be meant is refused by its own name, with nothing written', async (t) => {
  const world = await World.in(t).state().session()
  const { sequence } = world.view()
  for (const [line, code] of Object.entries(lines)) {
    const ran = await world.run([...line.split(' '), '--json', '--no-input'], { stdin: '' })
    t.ok([2, 3, 6].includes(ran.status), `${line}: ${ran.status}`)
    t.equal(ran.error().code, code, line)
    t.equal(ran.stdout, '', line)
  }
  t.equal(world.view().sequence, sequence)
})
