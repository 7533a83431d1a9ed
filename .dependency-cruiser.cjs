// Imports only ever point down. Each layer may import itself and the layers below it; capabilities
// never import each other. There is no exceptions list.
const layers = [
  ['base'],
  ['state'],
  ['images'],
  ['net'],
  ['governance'],
  ['contact'],
  ['observations'],
  ['gateway'],
  ['alpha', 'shots', 'edge', 'codehost'],
  ['fabric'],
  ['service'],
  ['cli'],
]

const folder = (names) => `^src/(${names.join('|')})/`

/** What no file of a layer may import: every layer above it, and its neighbours. */
const layerRules = layers.flatMap((names, level) =>
  names.map((name) => ({
    name: `${name}-imports-down`,
    severity: 'error',
    from: { path: folder([name]) },
    to: {
      path: folder([
        ...layers.slice(level + 1).flat(),
        ...names.filter((other) => other !== name),
        ...(name === 'alpha' ? ['gateway'] : []),
        ...(name === 'cli' ? [] : ['sandbox']),
      ]),
    },
  })),
)

/** Which folders alone may import a package or a part of Node. */
const owners = {
  'node_modules/(inquirer|@inquirer|commander|cli-table3|yocto-spinner)/': '^(src/cli|test)/',
  'node_modules/(lowdb|steno)/': '^(src/state|test|bench)/',
  'node_modules/fs-native-extensions/': '^(src/state|test|bench)/',
  'node_modules/(pngjs|jpeg-js)/': '^(src/(images|sandbox/samples|gateway)|test|bench)/',
  'node_modules/(sharp|@img)/': '^(test|bench)/',
  'node_modules/(koffi|@koromix)/': '^(src/codehost/producer|test|bench)/',
  'node_modules/chokidar/': '^(src/shots/watch|test|bench)/',
  'node_modules/hono/': '^(src/service|test|bench)/',
  'node_modules/node-fetch/': '^(src/net|test|bench)/',
  '^(node:)?(http|https|http2|net|tls|dns|dns/promises|dgram)$':
    '^(src/(net|service|sandbox)|test|bench)/',
  '^(node:)?child_process$':
    '^(src/(codehost/|sandbox/|cli/(pager\\.ts|commands/(demo|sandbox|serve|timers)/))|(test|bench)/)',
}

const ownerRules = Object.entries(owners).map(([path, owner], number) => ({
  name: `owner-${number + 1}`,
  comment: `${path} belongs to ${owner}`,
  severity: 'error',
  from: { path: '^(src|test|bench)/', pathNot: owner },
  to: { path, dependencyTypesNot: ['type-only'] },
}))

/** Packages that the program is bundled with; docs/dependencies.md says what each is for. */
const bundled = [
  '@peculiar/x509', '@valibot/to-json-schema', 'canonicalize', 'chokidar', 'cli-table3',
  'commander', 'diff',
  'fast-string-width', 'hono', 'inquirer', 'ipaddr.js', 'jpeg-js', 'jsonc-parser', 'lowdb',
  'node-fetch', 'pngjs', 'reflect-metadata', 'uuid', 'valibot', 'yocto-spinner',
]

module.exports = {
  forbidden: [
    ...layerRules,
    ...ownerRules,
    {
      name: 'sandbox-stands-on-base',
      severity: 'error',
      from: { path: '^src/sandbox/' },
      to: { path: '^src/(?!sandbox/|base/)' },
    },
    {
      name: 'sandbox-is-for-demo-and-tests',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(sandbox|cli/commands/(demo|sandbox))/' },
      to: { path: '^src/sandbox/' },
    },
    {
      name: 'no-circles',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'no-circles-of-types',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
    },
    {
      name: 'src-stands-alone',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|bench|scripts)/' },
    },
    {
      name: 'declared-packages-only',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
    {
      // What is bundled is installed for development only; so is everything else that tests need.
      name: 'bundled-packages-only',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev'],
        pathNot: `^node_modules/(${bundled.join('|').replaceAll('.', '\\.')})/`,
      },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json'],
    },
  },
}
