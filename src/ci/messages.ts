/**
 * Every text of the CI core that users meet, in one place: clients and people compare them literally. Entry texts are
 * the last part of `<location> <attribute> <text>`, put together (and lower-cased) in `entries/spot.ts`; all others
 * are whole sentences and keep their case.
 */

/** As Ruby shows a list, which the texts of the field took over: `["a", "b"]`. */
const list = (items: readonly string[]) => `[${items.map((item) => JSON.stringify(item)).join(', ')}]`

export const fileText = {
  empty: 'Please provide content of .gitlab-ci.yml',
  notMap: 'Invalid configuration format',
  tooBig: 'The parsed YAML is too big',
  yaml: (reason: string, line: number, column: number) =>
    `(<unknown>): ${reason} at line ${line} column ${column}`,
  specUnsupported: 'spec header is not supported yet',
}

export const includeText = {
  malformed: 'Each include must be a hash or a string',
  unsupported: (kind: string) => `include:${kind} is not supported yet`,
  missing: (file: string) => `Local file \`${file}\` does not exist!`,
  empty: (file: string) => `Local file \`${file}\` is empty!`,
  notYaml: (file: string) => `Included file \`${file}\` does not have YAML extension!`,
  invalidYaml: (file: string) => `Included file \`${file}\` does not have valid YAML syntax!`,
  notText: (file: string) => `Included file \`${file}\` needs to be a string`,
  tooMany: (limit: number) => `Maximum of ${limit} nested includes are allowed!`,
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
  malformed: '!reference needs a list of keys',
}

/** Messages of entries, after `<location> <attribute>`. */
export const entryText = {
  hash: 'should be a hash',
  hashOrString: 'should be a hash or a string',
  string: 'should be a string',
  boolean: 'should be a boolean value',
  integer: 'should be an integer',
  array: 'should be an array',
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
  unknownKeys: (keys: readonly string[]) => `contains unknown keys: ${keys.join(', ')}`,
  arrayOrHash: 'should be an array or a hash',
  missingKeys: (keys: readonly string[]) => `missing required keys: ${keys.join(', ')}`,
  together: (keys: readonly string[]) => `these keys cannot be used together: ${keys.join(', ')}`,
  oneOf: (words: readonly string[]) => `should be one of: ${words.join(', ')}`,
  unknownValue: (value: unknown) => `unknown value: ${String(value)}`,
  notInList: 'is not included in the list',
  atLeast: (limit: number) => `must be greater than or equal to ${limit}`,
  atMost: (limit: number) => `must be less than or equal to ${limit}`,
  regex: 'must be a regular expression with re2 syntax',
  expression: 'invalid expression syntax',

  script: 'should be a string or a nested array of strings up to 10 levels deep',
  nameSymbol: 'name should be a symbol',
  nameBlank: "name can't be blank",
  noJobs: 'config should contain at least one visible job',
  notAJob: (name: string) => `${name} config should implement the script:, run:, or trigger: keyword`,
  rulesShape: 'should be an array containing hashes and arrays of hashes',
  notWithRules: (keys: readonly string[]) => `key may not be used with \`rules\`: ${keys.join(', ')}`,
  policyShape: 'has to be either an array of conditions or a hash',
  policyList: 'should be an array of strings or regular expressions using re2 syntax',
  needsShape: 'can only be a hash or an array',
  dependencyNotNeeded: (names: readonly string[]) => `the ${names.join(', ')} should be part of needs`,
  allowFailure: 'should be a hash or a boolean value',
  retryShape: 'has to be either an integer or a hash',
  parallelShape: 'should be an integer or a hash',
  parallelNumberOfBridge: 'cannot use "parallel: <number>".',
  matrixShape: 'should be an array of hashes',
  matrixTooBig: (limit: number) => `generates too many jobs (maximum is ${limit})`,
  exposeAsCharacters: "can contain only letters, digits, '-', '_' and spaces",
  exposeAsGlob: "can't contain '*' when used with 'expose_as'",
  exposeAsVariable: "can't contain variables when used with 'expose_as'",
  exposeAsPaths: 'requires paths',
  cacheKeyShape: 'should be a hash, a string or a symbol',
  cacheKeyFiles: 'must use exactly one of these keys: files, files_commits',
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
