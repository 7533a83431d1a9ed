import { alphaAsk, type AnswerDocument } from '../../../alpha/task-contract.js'
import { fail, SallyportError } from '../../../base/errors.js'
import type { AskRequest } from '../../../alpha/ask/admit.js'
import { alphaLimits } from '../../../alpha/constants.js'
import { parseAlphaInput, questionFromBytes } from '../../../alpha/input.js'
import { receiptLine } from '../../../alpha/receipt.js'
import { newRequestKey } from '../../../governance/board/lost-keys.js'
import { integerFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import { keyOf, withKeyFlags, type KeyOptions } from '../../key-flags.js'
import type { VerbFace, VerbRecord, VerbDeps } from '../../verb.js'
import { recoverFirst, workFor } from '../../work.js'
import { alphaContext } from '../../../fabric/contexts/alpha.js'

interface AskOptions extends KeyOptions {
  /** `-` for stdin; anything else is refused, because a question never goes on argv. */
  readonly stdin?: string
  readonly file?: string
  readonly from?: string
  readonly maxOutputTokens?: number
  readonly goal?: string
  /** Seconds. */
  readonly waitTurn?: number
}

/** The answer alone on stdout, the receipt as one line on stderr. */
export const answerText: VerbFace<AnswerDocument>['text'] = (result, view) => ({
  out: view.terminal ? `${view.foreign(result.answer)}\n` : result.answer,
  notes: [receiptLine(result.receipt)],
})

const checkSources = (options: AskOptions): void => {
  if (options.stdin !== undefined && options.stdin !== '-') {
    throw fail.usage('question_on_command_line', 'A question is never an argument.', {
      next: 'Give it on stdin (`sallyport alpha ask -`) or in a file (--file F).',
    })
  }
  const given = [options.stdin, options.file, options.from].filter((one) => one !== undefined)
  if (given.length > 1) {
    throw fail.usage('several_sources', 'Give one of -, --file and --from.')
  }
  if (options.from !== undefined && options.maxOutputTokens !== undefined) {
    throw fail.usage('several_sources', 'The document of --from names max_output_tokens itself.')
  }
}

const promptedQuestion = async (deps: VerbDeps): Promise<string> => {
  const prompter = await deps.ask('Give the question on stdin (-), with --file or with --from.')
  return questionFromBytes(Buffer.from(await prompter.text('Question:'), 'utf8'))
}

const readQuestion = async (
  options: AskOptions, deps: VerbDeps,
): Promise<Pick<AskRequest, 'question' | 'maxOutputTokens'>> => {
  if (options.from !== undefined) {
    const source = { from: options.from, flag: '--from', bytesMax: alphaLimits.inputBytesMax }
    const input = parseAlphaInput(await readInput(deps, source))
    return { question: input.question, maxOutputTokens: input.max_output_tokens }
  }
  const maxOutputTokens = options.maxOutputTokens ?? null
  const from = options.stdin ?? options.file
  if (from === undefined && deps.interactive) {
    return { question: await promptedQuestion(deps), maxOutputTokens }
  }
  if (from === '-' && deps.io.terminal.stdin) {
    deps.note('Type the question; Ctrl-D on a line of its own ends it.')
  }
  // One byte more than is allowed tells a question that is too long from one that just fits.
  const source = {
    from: from ?? '-', flag: options.file === undefined ? 'stdin' : '--file',
    bytesMax: alphaLimits.inputBytesMax,
  }
  return { question: questionFromBytes(await readInput(deps, source)), maxOutputTokens }
}

export const ask: VerbRecord<AskOptions, AnswerDocument> = {
  summary: 'ask one question and pay for one answer',
  description:
    'Sends one question, once, to the one provider of this state directory. Then it reads '
    + 'the charge back and prints the answer. The question comes from stdin, a file or a '
    + 'prompt, never from the command line. It goes out exactly as it is. What was sent is '
    + 'never sent again: if its charge is not known, the task is blocked and the full bound '
    + 'stays held. One ask of yours runs at a time. A second one is refused, or with '
    + '--wait-turn waits for its turn, in order of coming. Meanwhile nothing is '
    + 'admitted or held; the wait counts toward the 120 seconds of an ask.',
  examples: [
    "$ printf 'What is a sally port?' | sallyport alpha ask -",
    '$ sallyport alpha ask --file question.txt --max-output-tokens 200',
    '$ sallyport alpha ask --from request.json --idempotency-key '
      + '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10 --json',
  ],
  ids: { goal: 'goal' },
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'budget', 'remote', 'locked'],
  json: alphaAsk,
  flags: (command) => withKeyFlags(command, 'the same key and question find the first ask again')
    .argument('[stdin]', '- to read the question from stdin')
    .option('--file <file>', 'read the question from a file; - for stdin')
    .option('--from <file>', 'read a whole svc.alpha.text.input.v1 document; - for stdin')
    .addOption(integerFlag('--max-output-tokens <n>', 'longest answer in tokens', {
      min: alphaLimits.outputTokensMin, max: alphaLimits.outputTokensMax,
    }))
    .option('--goal <id>', "the goal it serves (default: the owner's default goal)")
    .addOption(integerFlag('--wait-turn <seconds>', 'wait so long for another ask of yours to end',
      { min: 1, max: alphaLimits.waitTurnSecondsMax })),
  text: answerText,
  again: ({ task }) => ({
    next: `It is paid for and kept: \`sallyport task show ${task.id} --output\`.`,
    details: { task_id: task.id },
  }),
  run: async (options, deps) => {
    checkSources(options)
    const asked = await readQuestion(options, deps)
    const { gov, session } = await workFor(deps, 'mutate')
    const { ask } = await import('../../../alpha/ask/ask.js')
    const request = {
      ...asked,
      goalId: options.goal ?? null,
      idempotencyKey: keyOf(options, 'ask', { gov, session }) ?? newRequestKey(gov.store.read()),
    }
    const result = await ask(alphaContext(deps, gov), session, request, {
      ms: (options.waitTurn ?? 0) * 1_000, recover: () => recoverFirst(deps, gov),
    }).catch(async (error: unknown) => {
      if (error instanceof SallyportError && error.reason === 'connect_failed') {
        await (await import('../sandbox/rehearsal.js')).noteStoppedSandbox(deps, gov)
      }
      throw error
    })
    return alphaAsk.answer({ ...result, view: gov.store.read() })
  },
}
