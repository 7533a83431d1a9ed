/** The lines for requests that had left before they were stopped. */
import type { RequestsDocument } from '../governance/stops/requests.js'

const named = (
  requests: RequestsDocument, sent: 'partly' | 'wholly', text: string,
): readonly string[] => {
  const of = requests.filter((one) => one.sent === sent).map((one) =>
    (one.task_id === null ? `operation ${one.operation_id}` : `task ${one.task_id}`))
  const count = of.length === 1 ? '1 request was' : `${of.length} requests were`
  return of.length === 0 ? [] : [`${count} ${text.replace('TASKS', of.join(', '))}`]
}

/** What had left before, wholly and partly; no line where nothing had. */
export const sentBeforeLines = (requests: RequestsDocument): readonly string[] => [
  ...named(requests, 'wholly', 'already sent: TASKS; what it cost or did is still read back.'),
  ...named(requests, 'partly',
    'cut off while it was being sent: TASKS; what it cost or did is not known.'),
]
