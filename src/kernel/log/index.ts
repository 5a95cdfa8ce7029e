export { countStatement, requestContext, runInContext, type RequestContext } from './context.ts'
export { createLogger, type Logger, type LogLevel } from './logger.ts'
