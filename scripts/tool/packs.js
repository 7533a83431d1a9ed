// Sources whose chunks are wanted together; see pack.js. What two need is in the first of them. And
// programs that share no chunk.

/** The packs of the program, by the name of their files. */
export const packs = {
  // What reading commands load.
  reading: [
    'src/cli/run.ts', 'src/cli/store.ts', 'src/cli/login.ts', 'src/cli/work.ts',
    'src/cli/commands/alpha/show.ts', 'src/cli/commands/alpha/tasks.ts',
    'src/cli/commands/task/task.ts',
  ],
  // What resolves the work of dead processes, which every changing command does first.
  recovery: [
    'src/fabric/recovery.ts', 'src/alpha/recovery-rule.ts', 'src/gateway/call/open-calls.ts',
    'src/shots/analysis/settle.ts',
  ],
  // What an ask loads besides.
  asking: [
    'src/cli/commands/alpha/ask.ts', 'src/alpha/ask/ask.ts', 'src/net/client.ts',
  ],
  // What looking after screenshots loads besides.
  shots: ['src/cli/commands/shots/status.ts', 'src/cli/commands/shots/scan.ts'],
  // What a look at everything loads besides.
  status: [
    'src/cli/commands/status/status.ts', 'src/alpha/status-line.ts', 'src/gateway/status-line.ts',
  ],
  // What the service loads besides, which a socket starts while somebody waits; devices are its.
  serving: [
    'src/cli/commands/serve/serve.ts', 'src/fabric/sweep-unfinished.ts',
    'src/cli/commands/edge/edge.ts',
  ],
  // What it loads at the first request of an operator.
  operating: ['src/service/routes/table.ts', 'src/service/page/endpoints.ts'],
}

/** Programs of one file each, by its name: they are copied and run apart from everything else. */
export const alone = {
  producer: 'src/codehost/producer/supervisor/main.ts',
  // Runs in a browser.
  'page-script': 'src/service/page/page-script.ts',
}

/** Entries that run inside a program which has read the packs: what they need may be packed. */
export const within = ['service-worker']
