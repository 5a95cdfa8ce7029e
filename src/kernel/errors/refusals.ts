import { ApiError } from './api-error.ts'

/** Parameter faults, in declaration order: `key is missing, page is invalid`. */
export function invalidParameters(faults: readonly string[]): ApiError {
  return new ApiError(400, { error: faults.join(', ') })
}

/** A rule of the resource is broken; whole-object texts stand under `base`. */
export function invalid(messages: Record<string, string[]>): ApiError {
  return new ApiError(400, { message: messages })
}

export function badRequest(reason?: string): ApiError {
  return new ApiError(400, {
    message: reason === undefined ? '400 Bad request' : `400 Bad request - ${reason}`,
  })
}

/** A refusal whose text stands alone, where the endpoint has a wording of its own. */
export function refused(
  status: 400 | 401 | 403 | 404 | 405 | 409 | 422,
  message: string | string[],
): ApiError {
  return new ApiError(status, { message })
}

/** A refusal whose text stands under `error` in the message, as snippets and some imports have it. */
export function failed(status: 400 | 401 | 403 | 422, error: string): ApiError {
  return new ApiError(status, { message: { error } })
}

/** A refusal of what cannot be brought here from another host, whose text stands under `errors`. */
export function notBrought(status: 400 | 403 | 422, errors: string): ApiError {
  return new ApiError(status, { errors })
}

/** Another host does not take the credentials that were given for it, or has been asked too often. */
export function refusedElsewhere(status: 401 | 429, error: string): ApiError {
  return new ApiError(status, { error })
}

/** A refusal of those services that name its kind besides. */
export function refusedAsError(status: 400 | 422, message: string): ApiError {
  return new ApiError(status, { message, status: 'error' })
}

export function unauthorized(): ApiError {
  return new ApiError(401, { message: '401 Unauthorized' })
}

/** An OAuth-style refusal of the presented token; `description` is one of the texts of the conventions (1.9). */
export function invalidToken(description: string): ApiError {
  return new ApiError(
    401,
    { error: 'invalid_token', error_description: description },
    {
      'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="invalid_token", error_description="${description}"`,
    },
  )
}

export function insufficientScope(acceptable: readonly string[]): ApiError {
  const description = 'The request requires higher privileges than provided by the access token.'
  return new ApiError(
    403,
    { error: 'insufficient_scope', error_description: description, scope: acceptable.join(' ') },
    {
      'www-authenticate': `Bearer realm="Protected by OAuth 2.0", error="insufficient_scope", error_description="${description}"`,
    },
  )
}

export function forbidden(reason?: string): ApiError {
  return new ApiError(403, { message: reason === undefined ? '403 Forbidden' : `403 Forbidden - ${reason}` })
}

/** A named thing is missing or must not be known to exist: `404 Project Not Found`. */
export function notFound(thing?: string): ApiError {
  return new ApiError(404, { message: thing === undefined ? '404 Not Found' : `404 ${thing} Not Found` })
}

/** A record looked up by its id or key inside something visible is missing (small f, as clients compare it). */
export function recordNotFound(): ApiError {
  return new ApiError(404, { message: '404 Not found' })
}

export function notAcceptable(message = '406 Not Acceptable'): ApiError {
  return new ApiError(406, { message })
}

/** `format` as clients name it: `xml`. */
export function formatNotServed(format: string): ApiError {
  return new ApiError(406, { error: `The requested format '${format}' is not supported.` })
}

export function conflict(message = '409 Conflict'): ApiError {
  return new ApiError(409, { message })
}

/** What is to be sent again with the answer of a captcha, shown with `siteKey`, and the number of this refusal. */
export function needsCaptcha(asked: { spamLogId: number; siteKey: string; text: string }): ApiError {
  return new ApiError(409, {
    needs_captcha_response: true,
    spam_log_id: asked.spamLogId,
    captcha_site_key: asked.siteKey,
    message: { error: asked.text },
  })
}

export function preconditionFailed(): ApiError {
  return new ApiError(412, { message: '412 Precondition Failed' })
}

export function tooLarge(message = '413 Request Entity Too Large'): ApiError {
  return new ApiError(413, { message })
}

export function unsupportedContentType(type: string): ApiError {
  return new ApiError(415, { error: `The provided content-type '${type}' is not supported.` })
}

export function unprocessable(message: string | string[] | Record<string, string[]>): ApiError {
  return new ApiError(422, { message })
}

/** A change that git could not make by itself, with a code for clients. `dryRun`: nothing was to be changed. */
export function notApplicable(message: string, code: 'conflict' | 'empty', dryRun: boolean): ApiError {
  return new ApiError(400, { message, error_code: code, ...(dryRun && { dry_run: 'error' }) })
}

/** A limit on one action; `period`, in seconds, tells when to come again. */
export function tooManyRequests(
  period?: number,
  error = 'This endpoint has been requested too many times. Try again later.',
): ApiError {
  return new ApiError(
    429,
    { message: { error } },
    period === undefined ? {} : { 'retry-after': String(period) },
  )
}

export function unavailable(): ApiError {
  return new ApiError(503, { message: '503 Service Unavailable' })
}
