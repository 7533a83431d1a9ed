/** The verb of an operation: flags and text are added, all else is what its route has, too. */
import type { AnyContract, Operation, RequestOf } from '../fabric/operation.js'
import { requestOf } from './request.js'
import type { LineOf, VerbDeps, VerbFace, VerbRecord } from './verb.js'

/** How the line of a verb becomes the request of an operation, and its result is shown. */
interface OperationFace<C extends AnyContract, Line> extends VerbFace<ReturnType<C['answer']>> {
  /** False: looking is no use of the session. */
  readonly touch?: boolean
  /** The line with what is asked for, read or judged before the state is opened. */
  complete?(line: Line, deps: VerbDeps): object | Promise<object>
}

/** A verb that is an operation, and nothing between its login and its result. */
export const verbOf = <C extends AnyContract, Line extends object = LineOf<C>>(
  { contract, mode, run }: Operation<C>, face: OperationFace<C, Line>,
): VerbRecord<Line, ReturnType<C['answer']>> => ({
  ...face,
  json: contract,
  run: async (line, deps) => {
    const given = await face.complete?.(line, deps) ?? line
    const request = requestOf(contract, given) as RequestOf<C>
    const { workFor } = await import('./work.js')
    const source = await run(await workFor(deps, mode, face), request)
    return contract.answer(source) as ReturnType<C['answer']>
  },
})
