/** The words of the program, one source for `docs/glossary.md` and `sallyport help WORD`. */
import { wrapText } from '../../wrap.js'

/** Words that mean one thing, parted by a comma, and what they mean. */
type Entry = readonly [words: string, meaning: string]

const entries: readonly Entry[] = [
  ['acknowledgment',
    'Saying that you know what leaves this machine and who can read it. It is a box that '
    + 'starts unchecked, or a flag.'],
  ['anchor',
    'A small file beside the keys that remembers how far the state had come, so that an old '
    + 'copy put in its place is noticed.'],
  ['approval',
    'Your yes to one exact thing, such as a job at a code host, named by the digest of its '
    + 'preview.'],
  ['audit',
    'The list of who did what and when, without content. Each row is chained to the one '
    + 'before.'],
  ['bound', 'The most that one request may cost. So much is held before it is sent.'],
  ['bill, readback',
    'What the provider says that a request cost. It settles the charge, or a person does.'],
  ['capability, route',
    'One thing that can be reached: `alpha` (questions), `gateway` (models), `shots` '
    + '(screenshots), `codehost`, `edge` (devices).'],
  ['capacity',
    'The one place that a connection has for a job that writes. An unknown job occupies it '
    + 'until it is settled.'],
  ['ceiling', 'The most that a state may ever spend, over all routes together.'],
  ['charge',
    'What was or may have been spent by one operation: held, settled, released or unknown.'],
  ['connection',
    'A token for one exact repository at a code host. It identifies an account and allows '
    + 'nothing by itself.'],
  ['consent',
    'Your yes to a kind of sending, bound to the exact words that were shown, to model and '
    + 'hosts. It covers no image taken in earlier; a digest or a conclusion may tell of what '
    + 'was described before.'],
  ['contact',
    'The moment from which a request may have left this machine. What may have left is never '
    + 'sent again.'],
  ['deployment profile',
    'The providers, models and hosts that a state may ever reach. `init` seals it for good.'],
  ['digest',
    '1. A fingerprint (SHA-256) of bytes. 2. In `shots`: a summary of half an hour of '
    + 'analyses.'],
  ['gateway',
    'A provider through which many models are reached. Here: one exact model for each slot, by '
    + 'named hosts alone.'],
  ['goal', 'What a task is for. Each owner has a default one.'],
  ['held, hold', 'Money that is set aside for a request whose charge is not settled.'],
  ['idempotency key',
    'Your name for one request. The same key and content of the same owner find the first one '
    + 'again, from a later session too, and cost nothing.'],
  ['key folder', 'The folder that opens the sealed parts of a state. A backup does not hold it.'],
  ['ledger', 'The list of all charges, with one ceiling.'],
  ['machine', 'One of those that share a state: it has a name, an id and a replica.'],
  ['µUSD, micro-USD', 'A millionth of a US dollar.'],
  ['named state',
    'A state that `sallyport at add` gave a name. `--at NAME` means its directory and its key '
    + 'folder.'],
  ['observation', 'One image that was taken in: facts about it, its state, later its analysis.'],
  ['operation',
    'One thing that may cost money, with an id (`op_…`) under which the ledger knows it.'],
  ['overrun', 'A bill above the bound. The charge stands, and a person reviews it.'],
  ['owner', 'A person who uses a state, with own tasks and goals.'],
  ['place',
    'Where the truth of a shared state lies: a database of a PostgreSQL server, which sees '
    + 'sealed records alone.'],
  ['policy, revision',
    'What is allowed in a state. Each change has a number, and whoever widens it says which '
    + 'number they saw.'],
  ['proof',
    'One small request that shows that a slot reaches the model and host that were named. '
    + 'Stale after 24 hours.'],
  ['receipt', 'What is left of an operation, without its content.'],
  ['replica',
    'The state directory of a machine that shares its state: everything that it has followed. '
    + 'Commands that only read use it.'],
  ['revoke', 'Stops every route at once, or one connection or device.'],
  ['sandbox, rehearsal',
    'Providers that are played on this machine, with faults by name. They cost nothing and '
    + 'send nothing. A state made for them is a rehearsal.'],
  ['sealed', 'Encrypted with a key that lies apart, in the key folder.'],
  ['session',
    'Ends by itself after some time. Changing limits, asking or publishing needs one; screenshots '
    + 'are analysed under a stored consent instead.'],
  ['short id',
    'Type and last eight digits of an id (`task_1a2b3c4d`), as lists on a terminal show it. '
    + 'Verbs take it where one of your rows has it.'],
  ['slot',
    'A place of the gateway for one exact model: `chat` is for proofs, `report` writes digests and '
    + 'conclusions, `screenshot` looks at pictures.'],
  ['state, state directory', 'The folder with settings, sealed keys and every record.'],
  ['task',
    'A question or a job as people see it: it runs, ends, waits for a review, or is blocked.'],
  ['unknown',
    'It may have happened and nobody saw proof. The whole bound stays held until a person '
    + 'decides.'],
  ['upstream host', 'The company behind a gateway that runs a model, by its short name there.'],
]

const columns = 76

const entryText = ([words, meaning]: Entry): string =>
  [words, ...wrapText(meaning, columns).split('\n').map((line) => `  ${line}`)].join('\n')

/** The help topic: all of them. */
export const glossaryTopic = `Glossary

The words that the program and its pages use. One of them alone:
  sallyport help ceiling

${entries.map(entryText).join('\n')}
`

/** Every word that `help` explains. */
export const glossaryWords: readonly string[] = entries.flatMap(([words]) => words.split(', '))

/** What a word means; null where it is none of these. */
export const glossaryText = (word: string): string | null => {
  const found = entries.find(([words]) => words.split(', ').includes(word))
  return found === undefined ? null : `${entryText(found)}\n`
}

/** Text of `docs/glossary.md`. */
export const glossaryPage = (): string => [
  '# Glossary',
  'The words that the program and its pages use, each in one or two sentences.', '',
  '| word | what it means |', '|---|---|',
  ...entries.map(([words, meaning]) => `| ${words} | ${meaning} |`), '',
].join('\n')
