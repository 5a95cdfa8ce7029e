export { createAccessToken, type NewAccessToken } from './create.ts'
export { administratorScopes, tokenScopes, type TokenScope } from './scopes.ts'
