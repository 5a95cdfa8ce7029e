export {
  Answer,
  Lasting,
  Page,
  type AbilityOf,
  type Check,
  type Endpoint,
  type Method,
  type Print,
  type Read,
  type RequestFacts,
  type SubjectKind,
  type SubjectOf,
} from './endpoint.ts'
export { documentPath, openApiDocument } from './openapi.ts'
export { isUnfit } from './json-body.ts'
export { requireUnmodified, whenChanged } from './conditional.ts'
export { mergedPage, mergedRows, type MergedSource } from './merged-page.ts'
export { countedPast, countedRows, inColumns, page, rows, windowOf } from './read.ts'
export { InnerApi, type InnerCaller, type InnerReply } from './inner-api.ts'
export { Registry, type Route } from './registry.ts'
export { compileEntity } from './serialize.ts'
export {
  apiPrefix,
  createServer,
  mountEndpoints,
  requestFacts,
  send,
  serveEndpoints,
  type Elsewhere,
} from './server.ts'
export type { Gatekeeper } from './call.ts'
export { asksForUpgrade, takeUpgrade } from './upgrades.ts'
export {
  countLimit,
  keysetParams,
  largestPage,
  pageParams,
  readCursor,
  refuseDeepOffset,
  wantsKeyset,
  writeCursor,
  readPage,
  type PageInput,
} from './pagination.ts'
export { isDayText } from './time-text.ts'
export * from './types.ts'
