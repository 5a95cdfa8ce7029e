/** First parts of addresses that the service itself uses, now or later: no user and no top-level group has them. */
export const reservedTopLevel: ReadonlySet<string> = new Set([
  '-',
  '.well-known',
  '404.html',
  '422.html',
  '500.html',
  '502.html',
  '503.html',
  'admin',
  'api',
  'apple-touch-icon.png',
  'assets',
  'dashboard',
  'deploy.html',
  'explore',
  'favicon.ico',
  'favicon.png',
  'groups',
  'health_check',
  'help',
  'import',
  'jwt',
  'login',
  'o',
  'oauth',
  'profile',
  'projects',
  'public',
  'robots.txt',
  's',
  'search',
  'sitemap',
  'sitemap.xml',
  'sitemap.xml.gz',
  'slash-command-logo.png',
  'snippets',
  'unsubscribes',
  'uploads',
  'users',
  'v2',
])

/** Endings that would make an address with a user's name look like a file. */
export const fileExtensions: ReadonlySet<string> = new Set(
  (
    'atom bmp css csv gif gz gzip htm html ics jpe jpeg jpg js json m4a mp3 mp4 mpe mpeg mpg ogg otf pdf png rss svg ' +
    'text tif tiff ttf txt vcf vtt webm webp woff woff2 xhtml xml yaml yml zip'
  ).split(' '),
)

/** Passwords that everybody tries first, in lower case. Those shorter than eight characters are refused anyway. */
export const commonPasswords: ReadonlySet<string> = new Set(
  (
    '00000000 11111111 11223344 12121212 123123123 12341234 12344321 12345678 123456789 1234567890 123qweasd ' +
    '1q2w3e4r 1q2w3e4r5t 1qaz2wsx 22222222 66666666 87654321 88888888 987654321 aa123456 abc12345 abcd1234 ' +
    'abcdefgh access14 adminadmin administrator alexander asdfasdf asdfghjk asdfghjkl baseball basketball ' +
    'bigdaddy changeme changeme1 charlie1 chocolate computer corvette danielle dragon12 einstein football ' +
    'freedom1 iloveyou iloveyou1 internet jennifer jonathan letmein1 liverpool marlboro maverick mercedes ' +
    'michael1 michelle midnight monkey123 mustang1 nicholas p@ssw0rd p@ssword pa55word pa55w0rd pass1234 ' +
    'passw0rd password password1 password12 password123 password1234 princess princess1 q1w2e3r4 qazwsxedc ' +
    'qwer1234 qwerty12 qwerty123 qwertyui qwertyuiop rootroot samantha samsung1 secret12 secret123 shadow12 ' +
    'starwars steelers sunshine superman test1234 testtest tigger12 trustno1 victoria welcome1 welcome123 ' +
    'whatever william1 zaq12wsx zxcvbnm1'
  ).split(' '),
)
