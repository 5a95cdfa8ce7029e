import { Browser, type BrowserPage } from 'happy-dom'

/** A browser without a window: it runs the scripts that the service sends, and keeps its cookies. */
export class Visitor implements AsyncDisposable {
  readonly #browser: Browser
  readonly #page: BrowserPage
  readonly #url: string

  constructor(url: string) {
    this.#url = url
    this.#browser = new Browser({
      settings: {
        enableJavaScriptEvaluation: true,
        suppressInsecureJavaScriptEnvironmentWarning: true,
        handleDisabledFileLoadingAsSuccess: true,
        fetch: {
          requestHeaders: [
            { headers: { 'sec-fetch-site': 'same-origin' } },
            // As browsers say when they go to an address.
            { url: /^[^/]+:\/\/[^/]+\/(?!api\/)/, headers: { accept: 'text/html,*/*;q=0.8' } },
          ],
        },
      },
    })
    this.#page = this.#browser.newPage()
  }

  get document() {
    return this.#page.mainFrame.document
  }

  /** What can be read on the page, with single spaces. */
  get text(): string {
    return this.document.body.textContent.replace(/\s+/g, ' ')
  }

  get address(): string {
    return this.#page.mainFrame.url.slice(this.#url.length)
  }

  async visit(address: string): Promise<void> {
    await this.#page.goto(new URL(address, this.#url).href)
    await this.#settle()
  }

  /** Presses the button, or follows the link, with these words. `within`: a selector of what it lies in. */
  async press(words: string, within = 'body'): Promise<void> {
    const all = [...this.document.querySelectorAll(`${within} :is(button, a)`)]
    const found = all.find((one) => one.textContent.trim() === words)
    if (found === undefined) throw new Error(`There is no «${words}» at ${this.address}: ${this.text}`)
    found.dispatchEvent(
      new this.#page.mainFrame.window.MouseEvent('click', { bubbles: true, cancelable: true }),
    )
    await this.#settle()
  }

  /** Types into the field, or chooses, as its user does; fields that are ticked take true and false. */
  async fill(selector: string, value: string | boolean): Promise<void> {
    const field = this.document.querySelector(selector)
    if (field === null) throw new Error(`There is no field ${selector} at ${this.address}: ${this.text}`)
    Object.assign(field, typeof value === 'boolean' ? { checked: value } : { value })
    const { Event } = this.#page.mainFrame.window
    for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true }))
    await this.#settle()
  }

  async submit(selector: string): Promise<void> {
    const { Event } = this.#page.mainFrame.window
    this.document
      .querySelector(selector)!
      .dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
    await this.#settle()
  }

  async signIn(login: string, password: string): Promise<void> {
    await this.visit('/users/sign_in')
    await this.fill('[name=login]', login)
    await this.fill('[name=password]', password)
    await this.submit('#form')
  }

  async #settle(): Promise<void> {
    await this.#page.waitUntilComplete()
    // It would answer from it what browsers ask for again.
    this.#page.context.responseCache.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}
