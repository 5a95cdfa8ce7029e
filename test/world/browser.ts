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
    await this.#page.waitUntilComplete()
  }

  /** Presses the button, or follows the link, with these words. */
  async press(words: string): Promise<void> {
    const all = [...this.document.querySelectorAll('button, a')]
    const found = all.find((one) => one.textContent.trim() === words)
    if (found === undefined) throw new Error(`There is no «${words}» at ${this.address}: ${this.text}`)
    found.dispatchEvent(
      new this.#page.mainFrame.window.MouseEvent('click', { bubbles: true, cancelable: true }),
    )
    await this.#page.waitUntilComplete()
  }

  async signIn(login: string, password: string): Promise<void> {
    await this.visit('/users/sign_in')
    const form = this.document.getElementById('form')!
    for (const [name, value] of Object.entries({ login, password })) {
      Object.assign(form.querySelector(`[name=${name}]`)!, { value })
    }
    const { Event } = this.#page.mainFrame.window
    form.dispatchEvent(new Event('submit', { cancelable: true }))
    await this.#page.waitUntilComplete()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close()
  }
}
