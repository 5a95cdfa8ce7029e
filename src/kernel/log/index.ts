export {
  countStatement,
  nameRequest,
  requestContext,
  runInContext,
  statementChannel,
  type RequestContext,
  type SentStatement,
} from './context.ts'
export { createLogger, type Logger, type LogLevel } from './logger.ts'
