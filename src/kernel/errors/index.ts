export { ApiError, type ErrorBody } from './api-error.ts'
export * from './refusals.ts'
export { sentencesOf } from './sentences.ts'
