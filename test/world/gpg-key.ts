/** A public key of OpenPGP as `gpg --armor --export` writes it, and its fingerprint. */
export const gpgKey = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawKbMxYJKwYBBAHaRw8BAQdAlPTozIKFUigv94tiM/oT59qsB0uRNAPSr9VE
piT2Dj+0HE1pcmEgU2FuZCA8bWlyYUBleGFtcGxlLmNvbT6IkAQTFggAOBYhBOk4
k1yCKMvW2BznMHUnzYGDcMdCBQJrApszAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4B
AheAAAoJEHUnzYGDcMdCxkwA/2T/OzxdHUzIZ4Yw58kj1TsjxuV2H4oMK9+xKyBJ
SJOnAQD53vf2JuIi4wqwoxVWFWYWup2eJcIo0NNoRniC736qBQ==
=1WCB
-----END PGP PUBLIC KEY BLOCK-----`
export const gpgFingerprint = 'E938935C8228CBD6D81CE7307527CD818370C742'
