"""What has to be on a phone before it can run requests, is it there, and how does it get there?"""
