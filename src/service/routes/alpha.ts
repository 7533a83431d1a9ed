/** The text capability over HTTP: its configuration, a question, its answer. */
import * as v from 'valibot'
import { askedBefore, type AskRequest } from '../../alpha/ask/admit.js'
import { alphaInput, keepInput, readKeptInput } from '../../alpha/ask/kept-input.js'
import { alphaCapability, alphaLimits } from '../../alpha/constants.js'
import { alphaInputShape } from '../../alpha/input.js'
import { alphaAsk } from '../../alpha/task-contract.js'
import { contract } from '../../base/contract.js'
import { SallyportError } from '../../base/errors.js'
import type { Observer } from '../../base/observer.js'
import { closedObject } from '../../base/schema.js'
import { configSave } from '../../fabric/configuration-contract.js'
import { configurationBytesMax, saveConfiguration } from '../../fabric/configuration.js'
import { alphaContext } from '../../fabric/contexts/alpha.js'
import { alpha } from '../../fabric/operations/alpha.js'
import { config } from '../../fabric/operations/config.js'
import {
  boardTaskDocument, boardTaskShape, type SeenTask,
} from '../../governance/board/task-document.js'
import type { Task } from '../../governance/rows.js'
import { Answered, jsonOf, type Call, type Route } from '../route.js'
import { endedWithin, route, routeOf, smallJson } from '../route-of.js'

/** Making a task: the shape of every capability, of which the text capability takes one. */
const taskCreate = contract({
  name: 'task.create', document: 'task',
  input: closedObject({
    kind: v.literal(alphaCapability, `must be ${alphaCapability}`),
    input_artifact_id: v.string(),
    idempotency_key: v.string(),
    goal_id: v.optional(v.string()),
  }),
  output: boardTaskShape,
  toDocument: (seen: SeenTask) => boardTaskDocument(seen),
})

/** A look that is told as soon as a task is admitted. */
const watching = (call: Call) => {
  let tell: () => void = () => undefined
  const admitted = new Promise<null>((resolve) => (tell = () => resolve(null)))
  const observer: Observer = {
    at: async (step) => {
      await call.gov.observer.at(step)
      if (step === 'ask.admitted') tell()
    },
  }
  return { gov: { ...call.gov, observer }, admitted }
}

const requestOf = ({ gov, session, asked }: Call): AskRequest => {
  const request = taskCreate.request(jsonOf(asked))
  const view = gov.store.read()
  const input = readKeptInput(gov, view, session, request.input_artifact_id)
  return {
    question: input.question, maxOutputTokens: input.max_output_tokens,
    goalId: request.goal_id ?? null, idempotencyKey: request.idempotency_key,
    inputArtifactId: request.input_artifact_id,
  }
}

const toldOf = ({ gov, session }: Call, task: Task): Answered =>
  new Answered(202, taskCreate.answer({ view: gov.store.read(), session, task }))

/** The task that this key and content have made, under way or ended; null before it is admitted. */
const madeBy = ({ gov, session }: Call, request: AskRequest): Task | null =>
  askedBefore(gov, gov.store.read(), session, request)

/** Asks in the background; what comes first answers: the end, or the admission and the wait. */
const ask = async (call: Call, request: AskRequest): Promise<unknown> => {
  const { session, asked, world } = call
  const { gov, admitted } = watching(call)
  const { ask: askOnce } = await import('../../alpha/ask/ask.js')
  const work = askOnce(alphaContext(world, gov), session, request).then((result) =>
    new Answered(200, alphaAsk.answer({ ...result, view: gov.store.read() })))
  call.goOn(work)
  const soon = await Promise.race([admitted, work])
  const ended = soon ?? (asked.waitMs > 0 ? await endedWithin(work, asked.waitMs) : null)
  if (ended !== null) return ended
  const task = madeBy(call, request)
  return task === null ? work : toldOf(call, task)
}

const running: ReadonlySet<string> = new Set(['accepted', 'queued', 'running'])
/** How often a repeat looks whether the ask that goes on has ended. */
const lookMs = 100

/** The task of a request that another one asks, once the wait is over; null where none goes on. */
const underWay = async (call: Call, request: AskRequest): Promise<Answered | null> => {
  const { gov: { clock }, asked: { waitMs }, world: { stop } } = call
  const untilMs = clock.monotonicMs() + waitMs
  for (;;) {
    const task = madeBy(call, request)
    if (task === null || !running.has(task.state)) return null
    const leftMs = untilMs - clock.monotonicMs()
    if (leftMs <= 0 || stop.aborted) return toldOf(call, task)
    await clock.sleep(Math.min(leftMs, lookMs), stop).catch(() => undefined)
  }
}

const createTask = async (call: Call): Promise<unknown> => {
  const request = requestOf(call)
  const again = async (): Promise<unknown> => await underWay(call, request) ?? ask(call, request)
  return again().catch((error: unknown) => {
    // Another request with this key was sooner: its task is the one that was asked for.
    if (error instanceof SallyportError && error.code === 'ask_in_progress') return again()
    throw error
  })
}

/** The routes. */
export const alphaRoutes: readonly Route[] = [
  routeOf(config.show, 'GET /api/settings/model-configuration',
    'The model configuration: the text capability and the gateway.', { verb: null }),
  route(configSave, 'PUT /api/settings/model-configuration',
    'Saves one block of the model configuration.', {
      verb: null, mode: 'mutate',
      body: { shape: configSave.input, required: true, bytesMax: configurationBytesMax },
      // What would give up paid answers needs a person at a terminal, and is refused by its name.
      run: async ({ gov, session, asked }) => configSave.answer(
        await saveConfiguration(gov, session, { bytes: asked.body, accepts: [] })),
    }),
  route(alphaInput, 'POST /api/work-board/inputs',
    'Hands in a question; it waits a quarter of an hour for its task.', {
      verb: null, mode: 'mutate', status: 201,
      body: { shape: alphaInputShape, required: true, bytesMax: alphaLimits.inputBytesMax },
      run: async ({ gov, session, asked }) =>
        alphaInput.answer(await keepInput(gov, session, asked.body)),
    }),
  routeOf(alpha.inputs, 'GET /api/work-board/inputs',
    'Your questions that wait for their task, oldest first; not what they ask.'),
  routeOf(alpha.drop, 'POST /api/work-board/inputs/{input_artifact_id}/drop',
    'Removes a question that waits for its task.', { id: 'input' }),
  route(taskCreate, 'POST /api/work-board/tasks',
    'Asks the question of an input, once; answers as soon as its task is admitted.', {
      verb: 'alpha ask', mode: 'mutate', status: 202, waits: true,
      later: { status: 200, contract: alphaAsk }, body: smallJson(taskCreate.input),
      run: createTask,
    }),
  routeOf(alpha.output, 'GET /api/work-board/tasks/{task_id}/alpha-text/output',
    'The answer of a succeeded task and its receipt; contacts nobody.',
    { verb: 'task show --output' }),
]
