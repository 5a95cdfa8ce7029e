import { setTimeout as sleep } from 'node:timers/promises'
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
            // Without `no-cache` happy-dom takes from its cache what says `must-revalidate`.
            { headers: { 'sec-fetch-site': 'same-origin', 'cache-control': 'no-cache' } },
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

  /** Types into the field, or chooses, with what pages hear of that; what is ticked takes true and false. */
  async type(selector: string, value: string | boolean): Promise<void> {
    const field = this.document.querySelector(selector)
    if (field === null) throw new Error(`There is no field ${selector} at ${this.address}: ${this.text}`)
    Object.assign(field, typeof value === 'boolean' ? { checked: value } : { value })
    const { Event } = this.#page.mainFrame.window
    for (const name of ['input', 'change']) field.dispatchEvent(new Event(name, { bubbles: true }))
    await this.#settle()
  }

  /** Sends the form, as the key Enter does. */
  async submit(selector: string): Promise<void> {
    const { Event } = this.#page.mainFrame.window
    const form = this.document.querySelector(selector)!
    form.dispatchEvent(new Event('submit', { bubbles: true, cancelable: true }))
    await this.#settle()
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

  /** Writes into the fields below these words, or chooses there what has these. */
  fill(fields: Readonly<Record<string, string>>): void {
    for (const [words, value] of Object.entries(fields)) {
      const labels = [...this.document.querySelectorAll('label')]
      const found = labels.find((one) => one.querySelector('span')?.textContent === words)
      const field = found?.querySelector('input, textarea, select')
      if (field == null) throw new Error(`There is no field «${words}» at ${this.address}: ${this.text}`)
      const option = [...field.querySelectorAll('option')].find((one) => one.textContent === value)
      Object.assign(field, { value: option?.getAttribute('value') ?? value })
    }
  }

  async signIn(login: string, password: string): Promise<void> {
    await this.visit('/users/sign_in')
    const form = this.document.getElementById('form')!
    for (const [name, value] of Object.entries({ login, password })) {
      Object.assign(form.querySelector(`[name=${name}]`)!, { value })
    }
    const { Event } = this.#page.mainFrame.window
    form.dispatchEvent(new Event('submit', { cancelable: true }))
    await this.#settle()
  }

  /** Until nothing goes on any more; of another page, where one was gone to, until it is drawn, for some never rest. */
  async #settle(): Promise<void> {
    const { window } = this.#page.mainFrame
    await this.#page.waitUntilComplete()
    if (window === this.#page.mainFrame.window) return
    const isDrawn = (): boolean =>
      ![undefined, 'Loading…'].includes(this.document.querySelector('main')?.textContent)
    while (!isDrawn()) await sleep(10)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}
