/**
 * The CI core: from a configuration file to the jobs of a pipeline, and from the states of jobs to what happens next.
 * Pure functions over plain data; the areas around it gather what they need and store what they answer.
 */

export type * from './types.ts'

// Compiling: `load` the file with all it includes, gather what the config asks for, `compile` it for one pipeline.
export { ConfigError } from './config/config-error.ts'
export { readYaml } from './config/yaml.ts'
export { load, mergedYaml, parse, type ParseOptions, type ParseResult } from './config/parse.ts'
export {
  noSources,
  type Answers,
  type ConfigSources,
  type Origin,
  type Questions,
  type ReadySources,
  type RemoteFailure,
} from './include/asking.ts'
export { standardLimits, type Limits } from './include/context.ts'
export type { IncludeFacts } from './include/fetch.ts'
export { childSource, configLocation, type ConfigLocation } from './include/stand-in.ts'
export { lintAnswer, type LintAnswer, type LintOptions } from './lint/lint.ts'
export { readTemplate, templateNames } from './templates/templates.ts'
export { compileWildcard } from './text/glob.ts'
export type { JobConfig, ParsedConfig } from './config/config.ts'
export type { GlobalVariable } from './entries/variables.ts'
export { compile } from './compile/compile.ts'
export type {
  ClauseTrace,
  JobTrace,
  JobVariables,
  PathMatch,
  RuleTrace,
  TracedValue,
} from './compile/explanation.ts'
export { otherTreeKey } from './compile/rules.ts'
export { environmentVariables, jobPredefinedVariables } from './compile/environment.ts'
export { parseDuration } from '../kernel/lib/duration.ts'
export { compilePattern } from './text/regex.ts'
export { reportTypes } from './entries/reports.ts'

// Running: states of jobs and pipelines.
export { next, isPlayable, isRetryable, type JobEvent } from './status/transitions.ts'
export { whichJobsProceed, type SchedulableJob, type Turn } from './status/scheduling.ts'
export { compositeStatus, hasWarnings, type StatusPart } from './status/composite.ts'
export * from './status/groups.ts'
export {
  failureText,
  jobDetailedStatus,
  pipelineDetailedStatus,
  type DetailedStatus,
  type JobFacts,
} from './status/detailed.ts'
export { failureReasons, neverRetried, type FailureReason } from './status/failure-reasons.ts'
export { countsForDuration, meanCoverage, runningSeconds, type Interval } from './status/calculations.ts'
export { extractCoverage } from './status/coverage.ts'

// Variables.
export { orderBySpecificity, scopeMatches, scopeSpecificity, variablesFor } from './variables/scope.ts'
export { byPrecedence, type VariableLayers } from './variables/precedence.ts'
export { mergeVariables } from './variables/merge.ts'
export { expandText, expandVariables } from './variables/expand.ts'
export { isMaskable } from './variables/mask.ts'
export { environmentSlug, guessTier, refSlug, sitePrefix } from './variables/slug.ts'
