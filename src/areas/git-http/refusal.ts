/** Git clients show the text of an answer that is no success; so these are plain words. */
export class GitRefusal extends Error {
  readonly status: 400 | 401 | 403 | 404 | 406 | 409 | 413 | 415 | 422 | 429 | 501 | 503
  readonly text: string

  constructor(status: GitRefusal['status'], text: string) {
    super(text)
    this.name = 'GitRefusal'
    this.status = status
    this.text = text
  }
}
