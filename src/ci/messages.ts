/**
 * Every text of the CI core that users meet, in one place: clients and people compare them literally. Entry texts are
 * the last part of `<location> <attribute> <text>`, put together (and lower-cased) in `entries/spot.ts`; all others
 * are whole sentences and keep their case.
 */

import { nearest } from './text/nearest.ts'

/** `known`: the keys there are; the nearest ones are suggested behind the text that everybody knows. */
function unknownKeys(keys: readonly string[], known: readonly string[] = []): string {
  return `contains unknown keys: ${keys.join(', ')}${suggestion(keys, known)}`
}

const mostSuggestions = 10

function suggestion(words: readonly string[], known: readonly string[]): string {
  const near = words.slice(0, mostSuggestions).flatMap((word) => nearest(word, known) ?? [])
  return near.length === 0 ? '' : ` (did you mean ${[...new Set(near)].join(', ')}?)`
}

/** As Ruby shows a list, which the texts of the field took over: `["a", "b"]`. */
const list = (items: readonly string[]) => `[${items.map((item) => JSON.stringify(item)).join(', ')}]`

export const fileText = {
  empty: 'Please provide content of .gitlab-ci.yml',
  notMap: 'Invalid configuration format',
  tooBig: 'The parsed YAML is too big',
  yaml: (reason: string, line: number, column: number) =>
    `(<unknown>): ${reason} at line ${line} column ${column}`,
}

const remote = (url: string, reason: string) =>
  `Remote file \`${url}\` could not be fetched because of ${reason}!`
const quoted = (words: readonly string[]) => `\`${words.join('`, `')}\``

export const includeText = {
  malformed: 'Each include must be a hash or a string',
  noKind: (given: string, kinds: readonly string[]) =>
    `\`${given}\` does not have a valid subkey for include. Valid subkeys are: ${quoted(kinds)}`,
  severalKinds: (kinds: readonly string[]) => `Each include must use only one of: ${quoted(kinds)}`,
  /** What is wrong with the keys of one element. */
  entry: (reason: string) => `include config ${reason}`,
  noFile: 'must specify the file where to fetch the config from',
  integrityPrefix: "integrity hash must start with 'sha256-'",
  integrityEncoding: 'integrity hash must be base64 encoded',
  integrityMisplaced: 'integrity can only be specified for remote includes',
  inputs: 'include:inputs config should be a hash',
  rule: (reason: string) => `include:${reason}`,

  missing: (file: string) => `Local file \`${file}\` does not exist!`,
  empty: (file: string) => `Local file \`${file}\` is empty!`,
  noProject: (file: string) => `Local file \`${file}\` does not have project!`,
  projectMissing: (project: string) =>
    `Project \`${project}\` not found or access denied! Make sure any includes in the pipeline configuration are correctly defined.`,
  refMissing: (project: string, ref: string) => `Project \`${project}\` reference \`${ref}\` does not exist!`,
  projectFileMissing: (project: string, file: string) =>
    `Project \`${project}\` file \`${file}\` does not exist!`,
  projectFileEmpty: (project: string, file: string) => `Project \`${project}\` file \`${file}\` is empty!`,
  badAddress: (url: string) => `Remote file \`${url}\` does not have a valid address!`,
  remoteStatus: (url: string, status: number, attempts: number) =>
    `Remote file \`${url}\` could not be fetched after ${attempts} attempts because of HTTP code \`${status}\` error!`,
  remoteFailed: {
    socket: (url: string) => remote(url, 'a socket error'),
    timeout: (url: string) => remote(url, 'a timeout error'),
    http: (url: string) => remote(url, 'HTTP error'),
  },
  remoteBlocked: (reason: string) => `Remote file could not be fetched because ${reason}!`,
  integrity: (url: string) => `Remote file \`${url}\` failed integrity check!`,
  badTemplate: (name: string) => `Template file \`${name}\` is not a valid location!`,
  artifactOutsideChild: 'Including configs from artifacts is only allowed when triggering child pipelines',
  artifactWithoutJob: 'Job must be provided when including configs from artifacts',
  artifactJobMissing: (job: string) =>
    `Job \`${job}\` not found in parent pipeline or does not have artifacts!`,
  artifactEmpty: (file: string) => `File \`${file}\` is empty!`,

  nothing: (file: string) => `Included file \`${file}\` is empty or does not exist!`,
  notYaml: (file: string) => `Included file \`${file}\` does not have YAML extension!`,
  invalidYaml: (file: string) => `Included file \`${file}\` does not have valid YAML syntax!`,
  notText: (file: string) => `Included file \`${file}\` needs to be a string`,
  within: (file: string, reason: string) => `\`${file}\`: ${reason}`,
  headerKeys: (file: string, keys: readonly string[]) =>
    `Header include file \`${file}\` contains unknown keys: ${list(keys)}`,
  tooMany: (limit: number) => `Maximum of ${limit} nested includes are allowed!`,
  tooBig: 'Total size of combined CI/CD configuration is too big',
  tooSlow: 'Resolving config took longer than expected',
}

export function componentText(address: string) {
  const text = (reason: string) => `Component '${address}' - ${reason}`
  return {
    missing: text('content not found'),
    unsupported: text('the component path is not supported'),
    denied: text("project does not exist or you don't have sufficient permissions"),
  }
}

const article = { array: 'an', boolean: 'a', number: 'a', string: 'a' }

/** `spec:inputs`, and the values given for them. */
export const inputText = {
  of: (name: string, reason: string) => `\`${name}\` input: ${reason}`,
  required: 'required value has not been provided',
  wrongType: (origin: 'default' | 'provided', type: keyof typeof article) =>
    `${origin} value is not ${article[type]} ${type}`,
  notAnOption(value: unknown, type: keyof typeof article) {
    const shown = Array.isArray(value) ? value.join(', ') : `\`${String(value)}\``
    const the = type === 'number' ? 'the ' : ''
    return `${shown} cannot be used because it is not in the list of ${the}allowed options`
  },
  noMatch: (origin: 'default' | 'provided') => `${origin} value does not match required RegEx pattern`,
  badRegex: 'invalid regular expression',
  optionsMisplaced: 'Options can only be used with string and number inputs',
  regexMisplaced: 'RegEx validation can only be used with string inputs',
  unknown: (names: readonly string[]) => `unknown input arguments: ${names.join(', ')}`,
  noHeader: 'Given inputs not defined in the `spec` section of the included configuration file',
  tooMany: (limit: number) => `There cannot be more than ${limit} inputs`,
  duplicate: (names: readonly string[]) =>
    `Duplicate input keys found: ${names.join(', ')}. ` +
    'Input keys must be unique across all included files and inline specifications.',

  // Of the declaration, after `<location> <attribute>`.
  words: 'must be an alphanumeric string',
  tooManyOptions: (limit: number) => `cannot define more than ${limit} options`,
  nullOption: 'options array cannot contain null values',
  emptyRule: "rule with 'if' must define 'options' or 'default'",
  fallbackRule: "fallback rule must define 'options'",
  undefinedInRule: (index: number, names: readonly string[]) =>
    `rule[${index}] references undefined inputs: ${names.join(', ')}`,
  circular: 'circular dependency detected',
  noDefault: 'must have a default value',
}

/** `$[[ … ]]`. */
export const interpolationText = {
  pattern: 'invalid pattern used for interpolation. valid pattern is $[[ inputs.input ]]',
  unknown: (key: string, access: string) => `unknown interpolation provided: \`${key}\` in \`${access}\``,
  badIndex: (access: string) => `invalid array index syntax in \`${access}\``,
  notAList: (index: string, access: string) =>
    `cannot index into non-array value at [${index}] in \`${access}\``,
  outOfBounds: (index: string, size: number, access: string) =>
    `array index ${index} out of bounds (size: ${size}) in \`${access}\``,
  blockTooLarge: 'maximum interpolation expression size exceeded',
  textTooLarge: 'config node too large',
  tooLarge: 'config too large',
  tooManyBlocks: 'too many interpolation blocks',
  tooManyFunctions: 'too many functions in interpolation block',
  noFunction: (call: string) =>
    `no function matching \`${call}\`: check that the function name, arguments, and types are correct`,
  inFunction: (name: string, reason: string) => `error in \`${name}\` function: ${reason}`,
  notText: (name: string) => `invalid input type: ${name} can only be used with string inputs`,
  emptySeparator: 'invalid argument: separator cannot be empty',
  masked: 'variable expansion error: masked variables cannot be expanded',
}

export const extendsText = {
  unknown: (name: string, bases: readonly string[]) =>
    `${name}: unknown keys in \`extends\` (${bases.join(', ')})`,
  notMap: (name: string, bases: readonly string[]) =>
    `${name}: invalid base hashes in \`extends\` (${bases.join(', ')})`,
  tooDeep: (name: string) => `${name}: nesting too deep in \`extends\``,
  circular: (name: string) => `${name}: circular dependency detected in \`extends\``,
}

export const referenceText = {
  missing: (path: readonly string[]) => `!reference ${list(path)} could not be found`,
  circular: (path: readonly string[]) => `!reference ${list(path)} is part of a circular chain`,
  tooDeep: (path: readonly string[]) => `!reference ${list(path)} is nested too deep`,
  malformed: (written: unknown) => `!reference ${JSON.stringify(written)} is not valid`,
}

/** Messages of entries, after `<location> <attribute>`. */
export const entryText = {
  hash: 'should be a hash',
  hashOrString: 'should be a hash or a string',
  string: 'should be a string',
  boolean: 'should be a boolean value',
  integer: 'should be an integer',
  array: 'should be an array',
  hashes: 'should be an array of hashes',
  stringArray: 'should be an array of strings',
  stringArrayOrString: 'should be an array of strings or a string',
  integerOrArray: 'should be an array of integers or an integer',
  duration: 'should be a duration',
  durationLimit: 'should not exceed the limit',
  mustBeBlank: 'must be blank',
  blank: "can't be blank",
  tooLong: (limit: number) => `is too long (maximum is ${limit} characters)`,
  tooShortList: (minimum: number) => `requires at least ${minimum} item`,
  tooLongList: (limit: number) => `has too many entries (maximum ${limit})`,
  unknownItems: (items: readonly string[]) => `contains unknown values: ${items.join(', ')}`,
  unknownKeys,
  arrayOrHash: 'should be an array or a hash',
  missingKeys: (keys: readonly string[]) => `missing required keys: ${keys.join(', ')}`,
  exactlyOne: (keys: readonly string[]) => `must use exactly one of these keys: ${keys.join(', ')}`,
  together: (keys: readonly string[]) => `these keys cannot be used together: ${keys.join(', ')}`,
  oneOf: (words: readonly string[]) => `should be one of: ${words.join(', ')}`,
  unknownValue: (value: unknown) =>
    `unknown value: ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  notInList: 'is not included in the list',
  atLeast: (limit: number) => `must be greater than or equal to ${limit}`,
  atMost: (limit: number) => `must be less than or equal to ${limit}`,
  regex: 'must be a regular expression with re2 syntax',
  expression: 'invalid expression syntax',

  script: 'should be a string or a nested array of strings up to 10 levels deep',
  nameSymbol: 'name should be a symbol',
  nameBlank: "name can't be blank",
  noJobs: 'config should contain at least one visible job',
  notAJob: (name: string, keys: readonly string[] = [], globals: readonly string[] = []) =>
    `${name} config should implement the script:, run:, or trigger: keyword` +
    (suggestion(keys, ['script', 'trigger']) || suggestion([name], globals)),
  rulesShape: 'should be an array containing hashes and arrays of hashes',
  notWithRules: (keys: readonly string[]) => `key may not be used with \`rules\`: ${keys.join(', ')}`,
  policyShape: 'has to be either an array of conditions or a hash',
  policyList: 'should be an array of strings or regular expressions using re2 syntax',
  needsShape: 'can only be a hash or an array',
  needTypes: (types: readonly string[]) => `uses invalid types: ${types.join(', ')}`,
  oneMirror: 'should contain at most one bridge need',
  dependencyNotNeeded: (names: readonly string[]) => `the ${names.join(', ')} should be part of needs`,
  allowFailure: 'should be a hash or a boolean value',
  retryShape: 'has to be either an integer or a hash',
  parallelShape: 'should be an integer or a hash',
  parallelNumberOfBridge: 'cannot use "parallel: <number>".',
  matrixTooBig: (limit: number) => `generates too many jobs (maximum is ${limit})`,
  exposeAsCharacters: "can contain only letters, digits, '-', '_' and spaces",
  exposeAsGlob: "can't contain '*' when used with 'expose_as'",
  exposeAsVariable: "can't contain variables when used with 'expose_as'",
  exposeAsPaths: 'requires paths',
  cacheKeyShape: 'should be a hash, a string or a symbol',
  cacheKeySlash: 'cannot contain the "/" character',
  cacheKeyDots: 'cannot be "." or ".."',
  cachePolicy: 'should be a variable or one of: pull-push, push, pull',
  tooManyCaches: (limit: number) => `no more than ${limit} caches can be created`,
  stringOrHashShape: 'has to be either a string or a hash',
  triggerTarget: 'must specify either project or include',
  triggerOrNeeds: 'config should contain either a trigger or a needs:pipeline',
  triggerIncludeShape: 'should be a string, a hash or an array of them',
  variableShape: 'variable definition must be either a string or a hash',
  variableKeys: (keys: readonly string[]) => `uses invalid data keys: ${keys.join(', ')}`,
  variableValue: 'value must be a string',
  variableOptions: 'value must be present in options',
  inheritShape: 'should be a boolean value or an array of strings',
  pagesShape: 'should be a hash or a boolean value',
  publishOutsidePages: 'publish can only be used within a `pages` job',
  tooManyTags: (limit: number) => `must be less than the limit of ${limit} tags`,
  mustBeOneOf: (words: readonly string[]) => `must be one of: ${words.join(', ')}`,
  environmentAction: 'should be start, stop, prepare, verify, or access',
  environmentName:
    "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'",
  datetime: 'must be a valid datetime',
  ref: 'must be a valid ref',
  strategy: 'should be depend or mirror',
  inTopAndDefault: (key: string) => `${key} is defined in top-level and \`default:\` entry`,
}

/** What only the whole graph of jobs shows. */
export const graphText = {
  stage: (job: string, stage: string, stages: readonly string[]) =>
    `${job} job: chosen stage ${stage} does not exist; available stages are ${stages.join(', ')}`,
  undefinedNeed: (job: string, need: string) => `${job} job: undefined need: ${need}`,
  laterNeed: (job: string, need: string) =>
    `${job} job: need ${need} is not defined in current or prior stages`,
  duplicateNeeds: (job: string, needs: readonly string[]) =>
    `${job} has the following needs duplicated: ${needs.join(', ')}.`,
  longNeed: (job: string, need: string) =>
    `${job} job: need \`${need}\` name is too long (maximum is 255 characters)`,
  undefinedDependency: (job: string, name: string) => `${job} job: undefined dependency: ${name}`,
  laterDependency: (job: string, name: string) =>
    `${job} job: dependency ${name} is not defined in current or prior stages`,
  selfNeed: (job: string) => `The pipeline has circular dependencies: self-dependency: ${job}`,
  circularNeeds: (jobs: readonly string[]) =>
    `The pipeline has circular dependencies: topological sort failed: ${list(jobs)}`,
  onStop: {
    undefined: (job: string, name: string) => `${job} job: on_stop job ${name} is not defined`,
    noEnvironment: (job: string, name: string) =>
      `${job} job: on_stop job ${name} does not have environment defined`,
    otherEnvironment: (job: string, name: string) =>
      `${job} job: on_stop job ${name} have different environment name`,
    noStop: (job: string, name: string) =>
      `${job} job: on_stop job ${name} needs to have action stop defined`,
  },
}

/** What shows only when a pipeline is made. */
export const pipelineText = {
  workflow: 'The pipeline did not run. Review the workflow:rules configuration for the pipeline.',
  empty:
    'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
  tooManyJobs: (limit: number) =>
    `The number of jobs has exceeded the limit of ${limit}. Try splitting the configuration with parent-child-pipelines`,
  absentNeed: (job: string, need: string) =>
    `'${job}' job needs '${need}' job, but '${need}' does not exist in the pipeline. This might be because of the ` +
    'only, except, or rules keywords. To need a job that sometimes does not exist in the pipeline, use needs:optional.',
  tooManyNeeds: (job: string, limit: number, listed: number) =>
    `${job}: one job can only need ${limit} others, but you have listed ${listed}. ` +
    'See needs keyword documentation for more details',
  rule: (job: string, reason: string) => `Failed to parse rule for ${job}: ${reason}`,
  compareTo: 'rules:changes:compare_to is not a valid ref',
  existsProject: (project: string) => `rules:exists:project \`${project}\` is not a valid project`,
  existsRef: (project: string, ref: string) =>
    `rules:exists:ref \`${ref}\` is not a valid ref in project \`${project}\``,
  circularVariables: (keys: readonly string[]) => `circular variable reference detected: ${list(keys)}`,
  variablesTooBig: 'The expanded variables are too big',
}

/** Not errors; shown by lint and on the pipeline. */
export const warningText = {
  twoPipelines: (job: string) =>
    `jobs:${job} may allow multiple pipelines to run for a single action due to \`rules:when\` clause with no ` +
    '`workflow:rules` - read more: /help/ci/jobs/job_troubleshooting#job-may-allow-multiple-pipelines-to-run-for-a-single-action',
  notAPattern: (job: string) =>
    `jobs:${job} compares by =~ or !~ with a text that is not of the form /pattern/; it is searched as a plain text`,
}
