"""The net under every result: what a dozen small runs find, as two signatures each.

`signatures.json` has them. The content is what the files say: the identity, the records without their times, and the
columns of every part, decoded. The bytes are the files themselves, which another pyarrow may write differently.
A commit that changes none of them says 'no functional change'; any other says which one changed, and why.

    ./run.sh golden          rewrite signatures.json and print what changed
"""
