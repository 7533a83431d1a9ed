/** Help topics: `sallyport help TOPIC`. Each is a page of plain text, at most 80 columns wide. */
import { exitStatus, type ExitName } from '../../base/outcome.js'
import { exitMeaning, inOrder, precedenceSentence, sentSentence } from './exits.js'
import { columns } from './sections.js'
import { anchorTopic } from './topics/anchor.js'
import { filesTopic } from './topics/files.js'
import { glossaryTopic } from './topics/glossary.js'
import { platformsTopic } from './topics/platforms.js'
import { profileTopic } from './topics/profile.js'
import { realKeyTopic } from './topics/real-key.js'
import { sharedTopic } from './topics/shared.js'

const environment = `Environment variables

Places:
  SALLYPORT_AT          a named state: its directory and key folder (sallyport
                        at; below --at and --state-dir). With
                        SALLYPORT_STATE_DIR, SALLYPORT_CONFIG_DIR or
                        --config-dir beside it nothing is guessed: it is refused
                        (at_ambiguous). Empty counts as absent
  SALLYPORT_STATE_DIR   the state directory (below --at and --state-dir)
  XDG_STATE_HOME        else $XDG_STATE_HOME/sallyport, else
                        ~/.local/state/sallyport
  SALLYPORT_CONFIG_DIR  folder of the vault keys and anchors, outside the state
                        (below --at and --config-dir)
  XDG_CONFIG_HOME       else $XDG_CONFIG_HOME/sallyport, else
                        ~/.config/sallyport
  SALLYPORT_EDGE_DIR    folder of a capture device: its spool and its credential
                        (else $XDG_STATE_HOME/sallyport-edge, else
                        ~/.local/state/sallyport-edge)
  XDG_DATA_HOME         where the default workspace lies when init fixes it
  HOME                  what ~ stands for. An XDG variable that is empty or
                        relative counts as absent; where HOME is so too, the
                        program refuses (home_not_absolute) and guesses nothing

Session:
  SALLYPORT_SESSION     a session token, for CI; else the one that login stored

Screenshots (each comes before what is saved; an empty one counts as absent):
  SVC_SCREENSHOT_FOLDER                          the image folder, an absolute
                                                 path
  SCREENSHOT_FOLDER_INGEST_ENABLED               the ingest job (enabled)
  SCREENSHOT_FOLDER_INGEST_INTERVAL_MIN          minutes between its turns (1)
  SCREENSHOT_FOLDER_INGEST_LIMIT                 new files of one turn (100)
  SCREENSHOT_FOLDER_ANALYSIS_LIMIT               images of one analysis (20)
  SCREENSHOT_FOLDER_ANALYSIS_CONCURRENCY         images of one scheduled turn
                                                 (2)
  SCREENSHOT_FOLDER_ANALYSIS_INTERVAL_SECONDS    between turns of the analysis
                                                 job (60)
  SCREENSHOT_FOLDER_ANALYSIS_JOB_TIMEOUT_SECONDS longest wait for one image (45)
  SCREENSHOT_OBSERVATION_DIGEST_ENABLED          the digest job (true)
  SCREENSHOT_OBSERVATION_DIGEST_INTERVAL_MIN     minutes between its turns (15)
  SCREENSHOT_OBSERVATION_DIGEST_WINDOW_MIN       length of a window, minutes
                                                 (30)
  SCREENSHOT_OBSERVATION_DIGEST_MAX_CHARS        longest digest, Unicode code
                                                 points (6000)
  TZ                    the zone in which days of reports are meant
  HOME, XDG_CONFIG_HOME, XDG_DESKTOP_DIR, XDG_DOWNLOAD_DIR and user-dirs.dirs
  say which folders are too broad to be the image folder. No other name is read.

Output:
  NO_COLOR              any value but an empty one: no colour
  TERM                  dumb: no colour, no pager
  PAGER                 what shows long results on a terminal (less); empty or
                        cat: nothing does

Refused: with one of these set, nothing is contacted, because Node would write
requests and replies in the clear.
  NODE_DEBUG            for http, https, http2, net, tls or stream
  NODE_DEBUG_NATIVE     any value
  NODE_OPTIONS          with --tls-keylog, --trace-tls, --inspect or
                        --heapsnapshot

Slower, by about a third of a short command: any flag of V8 in NODE_OPTIONS
(--max-old-space-size is one). Node refuses the compiled code that comes with
the program then, and compiles it anew at each start.

Without effect: HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NODE_EXTRA_CA_CERTS,
SSL_CERT_FILE, SSL_CERT_DIR and NODE_TLS_REJECT_UNAUTHORIZED. Whom to trust and
whom to reach was sealed by init.
`

const exits = `Exit status

${columns(
  inOrder(Object.keys(exitStatus) as ExitName[]).map((name) => [
    String(exitStatus[name]), `${name}: ${exitMeaning[name]}`,
  ]),
).join('\n')}

Any other number is a failure too.
${precedenceSentence()}
${sentSentence(Object.keys(exitStatus) as ExitName[]).replace('. ', '.\n')}
Of the same request made before, ask_in_progress and idempotency_key_spent (5)
and result_pruned (6) tell: that one may have been sent.
With 1 or 12 and the reason outcome_not_recorded a request was sent: the bound
stays held until it is settled.
`

const json = `JSON output

With --json a command prints one JSON document on stdout. A list without rows is
[]. Field names are snake_case, times are ISO 8601 in UTC, money is integer
micro-USD. Each verb's help names the version of its output and its fields.
Under one version fields are added, never renamed or dropped, so ignore what you
do not know. A result that is an object says its schema in the field schema, for
example sallyport.goal.v1. The verb sallyport schema prints the JSON Schema of
every result, request and error.

A failure leaves stdout empty, and the last line of stderr is
  {"error":{"code","message","reason","status","details","hint","next"}}
  code     a stable name to match on
  message  one sentence for people; its wording may change
  reason   a finer stable name, or null
  status   the HTTP status that the service answers with
  details  names, numbers and limits; never what was typed or received
  next     commands that help, in order, and which of them need a person
One exception: a batch or a check that went partly wrong prints its receipt on
stdout as well.

A whole request goes in with --from FILE, or --from - for stdin. It is read
strictly: UTF-8 without a byte order mark, no field twice, no unknown field,
integers written plainly (not 1.0, 1e3 or -0).
`

const consent = `Consent

Nothing is contacted without consent that is current. Consent belongs to one
purpose. A logged-in operator gave it with an explicit acknowledgment. It is
bound to the revision of the policy at which it was given.

One policy governs every route of the state directory. A save publishes a
revoked revision first and an active one after it. An unchanged consent that was
current is carried over. The verb sallyport policy revoke stops every route at
once, needs no session, and kills every consent. None comes back by itself. Only
a new acknowledgment gives a new one.

A consent is asked three times for each request: before the name is resolved,
before the connection, and before the first byte. It is asked once more before a
result is adopted.

Screenshots need more than a consent. Each of these blocks alone: the switches
analysis and cloud upload, the controls, a budget, consent to gateway.vision.
The controls are fallbacks and data collection denied, zero data retention on. A
consent reaches forward only: images taken in before it stay here. Digests and
conclusions send stored analyses under gateway.digest and gateway.report. See:
  sallyport shots show

The provider receives the question in plaintext and could keep it. TLS protects
the way there. Nothing is claimed about what runs at the other end.
`

const money = `Money

Amounts are integers of micro-USD: 1000000 is one dollar. People read them as
$0.0138 (13,800 µUSD); JSON has integers alone. A flag takes dollars, as in
--spend-ceiling 5.00usd, by their digits: at most six decimals, never rounded.
Its older name ends with -microusd and takes the integer; give one of the two.
Nothing is rounded down, clipped or estimated from token prices.

One ledger with one ceiling covers every route of the state directory:
  reserve   the full request bound is held before contact
  settle    the real charge replaces the hold
  release   the hold is given back, only on proof that nothing was sent
  unknown   the charge could not be read: the full bound stays a liability

What would exceed the ceiling is refused before contact (status 8). The hold is
a rule of this machine; the provider enforces no maximum. A charge above the
bound stands, and its answer waits for your review (status 7):
  sallyport task review TASK
An unknown charge blocks its task until you settle it by hand:
  sallyport ledger settle --help
`

const retiredRoute = `The retired local analysis route (rollback diagnosis only)

This route is retired. It is kept for rollback diagnosis only, must not be
configured for current analysis, and is not an active setup path. None of its
settings activates anything, and nothing here contacts it. The names are
recorded so that they can be recognised in an old installation.

What it was: a local analysis wrapper in front of a GPU model server.

Settings names: SVC_VLM_BASE_URL, SVC_VLM_BACKEND_URL, SVC_VLM_API_KEY,
SVC_VLM_FEEDER_WINDOW (default 2), SCREEN_ANALYSIS_PROVIDER=local-vlm.
Default concurrency: 2.

Endpoints: /health, /health/backend, /queue/status, /health/chat,
POST /v1/analyze-file (multipart upload) and POST /v1/analyze (base64 payload).

Priority lanes: chat_thinking (interactive), report_thinking (high) and
screenshot_fast (normal), dispatched work-conserving with the highest ready lane
first and never interrupting a running job, over direct HTTP and never tunnels.

Fast metadata endpoints report vlm_runtime.live_probe.checked=false with reason
deferred_fast_metadata. sallyport shots status --json still does: it probes
nothing.
`

const topics: Readonly<Record<string, { readonly summary: string; readonly text: string }>> = {
  environment: { summary: 'variables that are read, refused or without effect', text: environment },
  'exit-status': { summary: 'what each number means', text: exits },
  json: { summary: 'JSON output, errors and requests', text: json },
  files: { summary: 'what lies where, and what may be deleted', text: filesTopic },
  platforms: { summary: 'where this runs, and what is missing there', text: platformsTopic },
  consent: { summary: 'what must be current before anything is contacted', text: consent },
  money: { summary: 'ceiling, holds, charges and liabilities', text: money },
  profile: { summary: 'the built-in provider, and the form of a profile file', text: profileTopic },
  'real-key': {
    summary: 'which key or token to make where, with the least rights',
    text: realKeyTopic,
  },
  anchor: {
    summary: 'what an old copy of the state is noticed by, and what to do', text: anchorTopic,
  },
  shared: {
    summary: 'a state that several machines share, and what may go wrong', text: sharedTopic,
  },
  glossary: {
    summary: 'the words of the program; `help WORD` explains one', text: glossaryTopic,
  },
  'retired-route': { summary: 'names of a route that no longer exists', text: retiredRoute },
}

/** Names of the topics. */
export const topicNames: readonly string[] = Object.keys(topics)

/** Text of a topic; null when there is none of that name. */
export const topicText = (name: string): string | null =>
  Object.hasOwn(topics, name) ? (topics[name]?.text ?? null) : null

export const topicList = (): [string, string][] =>
  Object.entries(topics).map(([name, { summary }]) => [name, summary])
