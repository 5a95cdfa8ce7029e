/** How often what moves is looked at again, in milliseconds. */
const pause = 2000

/** Calls `look` again and again while it says that something moves; not while nobody looks at the page. */
export async function whileMoving(look: () => Promise<boolean>): Promise<void> {
  while (await look()) {
    await new Promise((resolve) => setTimeout(resolve, pause))
    if (document.hidden) await becomesVisible()
  }
}

function becomesVisible(): Promise<unknown> {
  return new Promise((resolve) => document.addEventListener('visibilitychange', resolve, { once: true }))
}
