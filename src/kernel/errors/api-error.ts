/**
 * The JSON an error answers with: one of the shapes clients know (`message`, `error`, both parts of OAuth, and `errors`
 * of a single endpoint).
 */
export type ErrorBody =
  | {
      message: string | string[] | Record<string, string[] | string>
      error_code?: string
      dry_run?: 'error'
      status?: 'error'
    }
  | { error: string | string[]; error_description?: string; scope?: string }
  | { errors: string }
  | {
      needs_captcha_response: true
      spam_log_id: number
      captcha_site_key: string
      message: { error: string }
    }

/**
 * A refusal in the API's form. The constructors in `refusals.ts` are the closed list of them; anything else that is
 * thrown becomes a 500 that tells nothing but its request id.
 */
export class ApiError extends Error {
  readonly status: number
  readonly body: ErrorBody
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, body: ErrorBody, headers: Readonly<Record<string, string>> = {}) {
    super(
      'message' in body ? JSON.stringify(body.message) : 'errors' in body ? body.errors : String(body.error),
    )
    this.name = 'ApiError'
    this.status = status
    this.body = body
    this.headers = headers
  }
}
